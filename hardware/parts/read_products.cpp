#include <algorithm>
#include <functional>
#include <hardware/parts/read_products.hpp>
#include <nlohmann/json.hpp>

namespace shardplan {
namespace {

void check_sizes(StrictObject& object, const std::vector<double>& sizes) {
  const bool ascending = std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end();
  if (sizes.size() < 2 || sizes.front() < 1 || !ascending) object.fail("sizes", "two or more ascending sizes from 1 on");
}

void check_shares(StrictObject& object, const ProductTable& table) {
  const std::size_t n = table.sizes.size();
  if (table.shares.size() != n * n * n) object.fail("shares", "a share for each m, n and k of sizes");
  for (const double share : table.shares)
    if (share < 1e-6 || share > 1) object.fail("shares", "shares of peak, from 1e-6 to 1");
}

std::vector<double> numbers(StrictObject& object, const std::string& key) {
  std::vector<double> all;
  for (const auto& value : object.array(key)) {
    if (!value.is_number()) object.fail(key, "numbers");
    all.push_back(value.get<double>());
  }
  return all;
}

constexpr double most_fused = 10;

constexpr std::pair<std::string_view, DType> operand_types[] = {{"int8", DType::s8}, {"float8", DType::f8}};

DType read_operands(StrictObject& object) {
  const std::string word = object.text("operands");
  for (const auto& [name, dtype] : operand_types)
    if (word == name) return dtype;
  object.fail("operands", "int8 or float8; left out: bfloat16");
}

ProductTable read_table(StrictObject object) {
  ProductTable table;
  if (object.has("operands")) table.operands = read_operands(object);
  if (object.has("scoped_vmem_limit_kib")) table.scoped_vmem_limit = object.number("scoped_vmem_limit_kib") * 1024;
  table.sizes = numbers(object, "sizes");
  table.shares = numbers(object, "shares");
  if (object.has("fused_share")) table.fused_share = object.number("fused_share");
  if (table.fused_share < 0 || table.fused_share > most_fused) object.fail("fused_share", "from 0 to 10");
  table.source = object.text("source");
  check_sizes(object, table.sizes);
  check_shares(object, table);
  object.finish();
  return table;
}

}  // namespace

std::vector<ProductTable> read_product_tables(StrictObject& profile) {
  std::vector<ProductTable> tables;
  if (!profile.has("matmul_shares")) return tables;
  for (const auto& value : profile.array("matmul_shares"))
    tables.push_back(read_table(StrictObject(value, profile.where() + ".matmul_shares")));
  for (const ProductTable& of : tables) {
    const auto is_default = [&](const ProductTable& table) {
      return table.operands == of.operands && table.scoped_vmem_limit == 0;
    };
    if (std::count_if(tables.begin(), tables.end(), is_default) != 1)
      profile.fail("matmul_shares", "one table of each operands without scoped_vmem_limit_kib: the compiler's default");
  }
  return tables;
}

}  // namespace shardplan
