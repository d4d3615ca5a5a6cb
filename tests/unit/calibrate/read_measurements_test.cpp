// What the readers understand, and where they say that they don't.
#include <gmock/gmock.h>

#include <fstream>
#include <planner/calibrate/read_measurements.hpp>
#include <shardplan/error.hpp>
#include <tests/unit/own_folder.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

template <class Read>
std::string error_of(Read read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string ranks =
    "#  Rank  0 Group  0 Pid  1 on   node-1 device  0 [0000:05:00] Toy\n"
    "#  Rank  1 Group  0 Pid  2 on   node-2 device  0 [0000:05:00] Toy\n";
const std::string titles =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";
const std::string row = "  8388608  2097152  float  none  -1  91.10  92.08  161.14  0  94.94  88.36  154.63  0\n";

std::string log_error(const std::string& text) {
  return error_of([&] { read_collective_log(text, "x.log"); });
}

TEST(CollectiveLog, HasTheTestItsRanksAndTheTimeOutOfPlace) {
  const auto all = read_collective_log("$ ./build/all_gather_perf -b 8M\n" + ranks + titles + row, "x.log");
  ASSERT_EQ(all.size(), 1U);
  const auto& measured = std::get<MeasuredCollective>(all[0].what);
  EXPECT_EQ(measured.kind, CollectiveKind::all_gather);
  EXPECT_EQ(measured.bytes.value, 8388608);
  EXPECT_EQ(measured.devices, 2);
  EXPECT_EQ(measured.nodes, 2);
  EXPECT_DOUBLE_EQ(all[0].seconds.value, 91.10e-6);
  EXPECT_EQ(all[0].line, 6);
}

TEST(CollectiveLog, NamesTheDevice) {
  const Measurements measurements = read_measurements(TEST_DATA "/calibrate/all_gather_8.log");
  EXPECT_EQ(measurements.front().device, "Toy accelerator");
}

TEST(CollectiveLog, SeveralTestsCanFollowEachOther) {
  const std::string one =
      "# Collective test starting: all_reduce_perf\n" + ranks + titles + row + "# Avg bus bandwidth    : 1\n";
  const std::string other =
      "# Collective test starting: alltoall_perf\n" + ranks + titles +
      "node-1:12:12 [0] NCCL INFO Connected\n  0  0  float  none  -1  0.10  0.00  0.00  0  N/A  N/A  N/A  N/A\n" +
      "  1048576  262144  float  none  -1  10.5  1.0  1.0  0  N/A  N/A  N/A  N/A\n";
  const auto all = read_collective_log(one + other, "x.log");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(std::get<MeasuredCollective>(all[0].what).kind, CollectiveKind::all_reduce);
  EXPECT_EQ(std::get<MeasuredCollective>(all[1].what).kind, CollectiveKind::all_to_all);
  EXPECT_EQ(std::get<MeasuredCollective>(all[1].what).devices, 2);
}

TEST(CollectiveLog, OlderTablesHaveFewerColumns) {
  const auto all = read_collective_log(
      "./sendrecv_perf\n" + ranks +
          "#       size         count      type     time   algbw   busbw  error     time   algbw   busbw  error\n"
          "       65536         16384     float    52.01    1.26    1.10  0e+00    50.09    1.31    1.14  0e+00\n",
      "x.log");
  EXPECT_DOUBLE_EQ(all.at(0).seconds.value, 52.01e-6);
}

// mpirun --tag-output, of OpenMPI 4 and of 5.
TEST(CollectiveLog, MayBeTagged) {
  for (const std::string tag : {"[1,0]<stdout>:", "[prterun-node-1-7@1,0]<stdout>: "}) {
    const std::string path = own_folder() + "tagged.log";
    std::ofstream file(path);
    for (const std::string& text : {std::string("# nccl-tests/all_gather_perf -b 8M\n"), ranks, titles, row})
      for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = text.find('\n', begin);
        file << tag << text.substr(begin, end - begin + 1);
      }
    file.close();
    const auto all = read_measurements(path);
    ASSERT_EQ(all.size(), 1U) << tag;
    EXPECT_DOUBLE_EQ(all[0].seconds.value, 91.10e-6);
  }
}

TEST(CollectiveLog, WhatIsNotUnderstoodIsNamedWithItsLine) {
  EXPECT_THAT(log_error(ranks + titles + row), HasSubstr("x.log:3: which collective?"));
  EXPECT_THAT(log_error("./broadcast_perf\n" + ranks + titles + row), HasSubstr("x.log:1: 'broadcast_perf'"));
  EXPECT_THAT(log_error("./all_gather_perf\n" + titles + row), HasSubstr("x.log:2: expected a line '# Rank"));
  EXPECT_THAT(log_error("./all_gather_perf\n" + ranks + ranks + titles + row), HasSubstr("x.log:4: a second rank 0"));
  EXPECT_THAT(log_error("./all_gather_perf\n" + ranks + titles + "out of memory\n"),
              HasSubstr("x.log:6: expected a row of 13 columns, found 3"));
  EXPECT_THAT(log_error("./all_gather_perf\n" + ranks + titles + "  8  2  float  none  -1  fast  0  0  0  1  0  0  0\n"),
              HasSubstr("x.log:6: column time has 'fast'"));
  EXPECT_THAT(log_error("./all_gather_perf\n" + ranks + titles + "  8  2  float  none  -1  9  0  0  77  9  0  0  0\n"),
              HasSubstr("x.log:6: #wrong is 77"));
  EXPECT_THAT(log_error("./all_gather_perf\n" + ranks + titles +
                        "  9223372036854775807  2  float  none  -1  9  0  0  0  9  0  0  0\n"),
              HasSubstr("x.log:6: column size has '9223372036854775807', more than any memory has"));
  EXPECT_THAT(log_error("hello\n"), HasSubstr("x.log: no measurement"));
}

TEST(CollectiveLog, HostsHaveTheSameNumberOfRanks) {
  std::string uneven = ranks;
  for (const char* rank : {"2", "3"})
    uneven += "#  Rank  " + std::string(rank) + " Group  0 Pid  1 on   node-1 device  1 [0] Toy\n";
  EXPECT_THAT(log_error("./all_gather_perf\n" + uneven + titles + row),
              HasSubstr("x.log:6: 3 ranks on node-1 and 1 on node-2, not the same number on each host"));
}

std::string csv_error(const std::string& text) {
  return error_of([&] { read_product_csv(text, "x.csv"); });
}

TEST(ProductCsv, HasItsColumnsInAnyOrder) {
  const auto all = read_product_csv("# a comment\nk, dtype, m, n, seconds\n4, bf16, 2, 3, 0.5\n8,fp8,2,3,0.25\n", "x.csv");
  ASSERT_EQ(all.size(), 2U);
  const auto& product = std::get<MeasuredProduct>(all[0].what);
  EXPECT_EQ(product.m, 2);
  EXPECT_EQ(product.n, 3);
  EXPECT_EQ(product.k, 4);
  EXPECT_EQ(product.dtype, DType::bf16);
  EXPECT_EQ(all[0].seconds.value, 0.5);
  EXPECT_EQ(std::get<MeasuredProduct>(all[1].what).dtype, DType::f8);
  const auto rates = read_product_csv("m,n,k,dtype,tflops\n1000,1000,1000,half,2\n", "x.csv");
  EXPECT_DOUBLE_EQ(rates.at(0).seconds.value, 1e-3);
}

TEST(ProductCsv, TypesMayBeInCapitals) {
  const auto all = read_product_csv("m,n,k,dtype,tflops\n1000,1000,1000,BF16,2\n", "x.csv");
  EXPECT_EQ(std::get<MeasuredProduct>(all.at(0).what).dtype, DType::bf16);
}

TEST(ProductCsv, TitlesMayBeInCapitals) {
  const auto all = read_product_csv("M,N,K,dtype,TFLOPS\n1000,1000,1000,half,2\n", "x.csv");
  EXPECT_DOUBLE_EQ(all.at(0).seconds.value, 1e-3);
}

TEST(ProductCsv, WhatIsNotUnderstoodIsNamedWithItsLine) {
  EXPECT_THAT(csv_error("m,n,dtype,seconds\n"), HasSubstr("; a CSV of matrix products has m, n, k, dtype, and seconds"));
  EXPECT_THAT(csv_error("m,n,dtype,seconds\n"), HasSubstr("x.csv:1: column 'k' is missing"));
  EXPECT_THAT(csv_error("m,n,k,dtype\n"), HasSubstr("x.csv:1: expected one of the columns seconds and tflops"));
  EXPECT_THAT(csv_error("m,n,k,dtype,ms\n"), HasSubstr("x.csv:1: column 'ms' is not known"));
  EXPECT_THAT(csv_error("m,n,k,dtype,tflops\n1,1,1,bf16\n"), HasSubstr("x.csv:2: expected 5 cells, found 4"));
  EXPECT_THAT(csv_error("m,n,k,dtype,tflops\n1,1,1,f64,1\n"), HasSubstr("x.csv:2: dtype 'f64'"));
  EXPECT_THAT(csv_error("m,n,k,dtype,tflops\n1,-1,1,bf16,1\n"), HasSubstr("x.csv:2: column n has '-1'"));
  EXPECT_THAT(csv_error("m,n,k,dtype,tflops\n0.5,1,1,bf16,1\n"), HasSubstr("x.csv:2: m is 0.5, not a whole number"));
  EXPECT_THAT(csv_error("m,n,k,dtype,tflops\n1,1,1e300,bf16,1\n"),
              HasSubstr("x.csv:2: k is 1e300, not a whole number up to"));
  EXPECT_THAT(csv_error("m,n,k,dtype,tflops\n"), HasSubstr("no row"));
}

const std::string columns =
    R"({"cols": [{"id": "category"}, {"id": "bound_by"}, {"id": "total_self_time"}, {"id": "model_flop_rate"},)"
    R"( {"id": "hbm_bw"}], "rows": [)";

TEST(OpTable, SumsProductsAndKernelsBoundByHbm) {
  const auto all = read_op_table(
      columns + R"({"c": [{"v": "convolution fusion"}, {"v": "Compute"}, {"v": 2000}, {"v": 1000}, {"v": 1}]},
                   {"c": [{"v": "convolution"}, {"v": "HBM"}, {"v": 1000}, {"v": 500}, {"v": 9}]},
                   {"c": [{"v": "loop fusion"}, {"v": "HBM"}, {"v": 3000}, {"v": 0}, {"v": 100}]},
                   {"c": [{"v": "all-gather"}, {"v": "ICI"}, {"v": 3000}, {"v": 0}, {"v": 100}]}]})",
      "x.json");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_DOUBLE_EQ(std::get<MeasuredFlops>(all[0].what).flops.value, 1000e9 * 2e-3 + 500e9 * 1e-3);
  EXPECT_DOUBLE_EQ(all[0].seconds.value, 3e-3);
  EXPECT_EQ(std::get<MeasuredTraffic>(all[1].what).bytes.value, static_cast<std::int64_t>(100 * 1073741824.0 * 3e-3));
  EXPECT_DOUBLE_EQ(all[1].seconds.value, 3e-3);
}

TEST(OpTable, WhatIsNotUnderstoodIsNamed) {
  const auto error = [](const std::string& text) { return error_of([&] { read_op_table(text, "x.json"); }); };
  EXPECT_THAT(error(R"({"rows": []})"), HasSubstr("x.json: expected xprof's table"));
  EXPECT_THAT(error(R"({"cols": [{"id": "category"}], "rows": []})"),
              HasSubstr("x.json: the table has no column 'bound_by'"));
  EXPECT_THAT(error(columns + R"({"c": [{"v": "convolution"}]}]})"), HasSubstr("x.json: row 1 has no value in column"));
  EXPECT_THAT(error(columns + R"({"c": [{"v": "loop fusion"}, {"v": "HBM"}, {"v": "fast"}, {"v": 0}, {"v": 1}]}]})"),
              HasSubstr("x.json: row 1: 'total_self_time' is not a number"));
  EXPECT_THAT(error(columns + R"({"c": [{"v": "loop fusion"}, {"v": "HBM"}, {"v": 1}, {"v": 0}, {"v": 6e11}]}]})"),
              HasSubstr("x.json: row 1: hbm_bw is 6e+11 GiB/s, more than any memory reaches"));
  EXPECT_THAT(error(columns + R"({"c": [{"v": "loop fusion"}, {"v": "HBM"}, {"v": 1e12}, {"v": 0}, {"v": 1}]}]})"),
              HasSubstr("x.json: row 1: total_self_time is 1e+12 us: expected that of a step"));
  EXPECT_THAT(error(columns + "]}"), HasSubstr("no matrix product and no kernel bound by HBM"));
}

/// As spreadsheets write it, and one whose titles are others.
TEST(ReadMeasurements, KnowsACsvByItsTitles) {
  const std::string path = own_folder() + "products.csv";
  std::ofstream(path) << "\xEF\xBB\xBFM,N,K,dtype,tflops\r\n1000,1000,1000,bf16,2\r\n";
  EXPECT_DOUBLE_EQ(read_measurements(path).at(0).seconds.value, 1e-3);
  std::ofstream(path) << "rows,columns,depth,type,time\n1,1,1,bf16,1\n";
  EXPECT_THAT(error_of([&] { read_measurements(path); }),
              HasSubstr("products.csv:1: column 'rows' is not known; a CSV of matrix products has m, n, k"));
}

TEST(ReadMeasurements, KnowsACsvOfSemicolons) {
  const std::string path = own_folder() + "semicolons.csv";
  std::ofstream(path) << "m;n;k;dtype;tflops\n8;8;8;bf16;1\n";
  EXPECT_THAT(error_of([&] { read_measurements(path); }), HasSubstr(":1: column 'm;n;k;dtype;tflops' is not known"));
}

TEST(ReadMeasurements, TellsFilesApart) {
  const std::string folder = TEST_DATA "/calibrate/";
  EXPECT_EQ(read_measurements(folder + "all_gather_8.log").size(), 8U);
  EXPECT_EQ(read_measurements(folder + "products.csv").size(), 3U);
  EXPECT_EQ(read_measurements(folder + "roofline_model.json").size(), 2U);
  EXPECT_THROW(read_measurements(folder + "missing.log"), InputError);
}

}  // namespace
}  // namespace shardplan
