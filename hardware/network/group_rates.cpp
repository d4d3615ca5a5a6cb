#include <algorithm>
#include <hardware/network/group_rates.hpp>

namespace shardplan {

// Every member sends B/n to each other one, over the shorter way round; on a tie half each way.
//   ring: the ways of one member add up to B/n·(1+2+…+n/2+…+2+1) = B·n/4 hops (n even), over 2 links a member: B·n/8.
//         n odd: B·(n²-1)/(8n). Worked: n=8, B=1 GB: 1 GB over each link; the all-gather of the same 8 GB would bring
//         7/8·8 GB over 2 links = 3.5 GB each, so the exchange costs about 1/4 (scaling book, sharding.md).
//   line: the ⌊n/2⌋ members left of the middle link each send B/n to the ⌈n/2⌉ on its right: ⌊n/2⌋⌈n/2⌉/n·B.
//         Worked: n=8: 4·4/8 = 2 B, twice the ring.
// `stride` groups are interleaved, and each hop of a group takes `stride` links: every link carries the load of
// `stride` groups.
double exchange_load(const DimPart& part) {
  const double n = part.size;
  const double odd = part.size % 2, below = (n - odd) / 2, above = (n + odd) / 2;
  const double load = part.closes ? (n * n - odd) / (8 * n) : below * above / n;
  return load * part.stride;
}

// ring:  a closed ring receives over two links, an open line's end device over one: 2·link or link, a share of
//        1/stride of it each of the interleaved groups.
// shift: to the next member over `stride` links that `stride` groups share. On a line the last member's way back to the
//        first takes the links of the other direction, so it disturbs nobody.
GroupRates rates_of(const DimPart& part, double link) {
  const double n = part.size;
  const double links = part.closes ? 2 : 1;
  return {part.size, links * link / part.stride, (n - 1) / n * link / exchange_load(part), link / part.stride,
          (part.closes ? part.size / 2 : part.size - 1) * part.stride};
}

// all-gather: first every member gathers S/i from its o corresponding members outside, then S inside:
//   time = (o-1)/(o·i)·S/outer.ring + (i-1)/i·S/inner.ring   and   rate = (n-1)/n·S / time,  n = i·o
//   Worked: i=8 at 80 GB/s, o=2 at 5 GB/s, S=16 GB: 1 GB/5 + 14 GB/80 = 0.375 s; rate 15 GB/0.375 s = 40 GB/s.
// all-to-all: of the buffer B, (i-1)/n goes to members inside and (n-i)/n to members outside.
// shift: the slowest hop.
GroupRates nested(const GroupRates& inner, const GroupRates& outer) {
  if (inner.size == 1) return outer;
  if (outer.size == 1) return inner;
  const double i = inner.size, o = outer.size, n = i * o;
  const double gather = (o - 1) / n / outer.ring + (i - 1) / i / inner.ring;
  const double exchange = (i - 1) / n / inner.exchange + (n - i) / n / outer.exchange;
  return {inner.size * outer.size, (n - 1) / n / gather, (n - 1) / n / exchange, std::min(inner.shift, outer.shift),
          inner.hops + outer.hops, inner.waits + outer.waits};
}

}  // namespace shardplan
