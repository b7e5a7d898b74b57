// SPDX-License-Identifier: MIT
#include <array>
#include <cctype>
#include <utility>

#include "pytorch/communication.hpp"

namespace chakra::pytorch {

namespace {

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

// Lower case, without underscores, up to the arguments of a kernel or the peer of a send.
std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, name.find_first_of("(< "))) {
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

std::optional<CommMeaning> comm_meaning(std::string_view name) {
  using enum CollectiveType;
  // Longer words first: "reducescatter" is no "reduce" and "allgather" no "gather".
  static constexpr std::array<std::pair<std::string_view, CollectiveType>, 11> words = {
      {{"allreduce", all_reduce},
       {"reducescatter", reduce_scatter},
       {"allgather", all_gather},
       {"alltoall", all_to_all},
       {"broadcast", broadcast},
       {"barrier", barrier},
       {"bcast", broadcast},
       {"gather", gather},
       {"scatter", scatter},
       {"reduce", reduce},
       {"alltoallv", all_to_all}}};
  const std::string text = folded(name);
  if (contains(text, "sendrecv")) return std::nullopt;  // one kernel for sends, receives and all-to-alls
  for (const auto& [word, type] : words) {
    if (contains(text, word)) return CommMeaning{NodeType::comm_coll, type};
  }
  if (contains(text, "recv")) return CommMeaning{NodeType::comm_recv, std::nullopt};
  if (contains(text, "send")) return CommMeaning{NodeType::comm_send, std::nullopt};
  return std::nullopt;
}

bool is_comm_kernel_name(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 6> marks = {
      "nccl", "rccl", "one_shot_all_reduce", "two_shot_all_reduce", "multimem_", "mscclKernel"};
  const std::string_view head = name.substr(0, name.find('('));
  for (const std::string_view mark : marks) {
    if (contains(head, mark)) return true;
  }
  return false;
}

std::int64_t dtype_bytes(std::string_view dtype) noexcept {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 34> sizes = {{{"Float", 4},
                                                                                       {"Double", 8},
                                                                                       {"Half", 2},
                                                                                       {"BFloat16", 2},
                                                                                       {"Byte", 1},
                                                                                       {"Char", 1},
                                                                                       {"Bool", 1},
                                                                                       {"Short", 2},
                                                                                       {"Int", 4},
                                                                                       {"Long", 8},
                                                                                       {"UInt16", 2},
                                                                                       {"UInt32", 4},
                                                                                       {"UInt64", 8},
                                                                                       {"ComplexHalf", 4},
                                                                                       {"ComplexFloat", 8},
                                                                                       {"ComplexDouble", 16},
                                                                                       {"float", 4},
                                                                                       {"double", 8},
                                                                                       {"bool", 1},
                                                                                       {"unsigned char", 1},
                                                                                       {"signed char", 1},
                                                                                       {"char", 1},
                                                                                       {"short", 2},
                                                                                       {"short int", 2},
                                                                                       {"int", 4},
                                                                                       {"long", 8},
                                                                                       {"long int", 8},
                                                                                       {"long long", 8},
                                                                                       {"c10::Half", 2},
                                                                                       {"c10::BFloat16", 2},
                                                                                       {"c10::complex<float>", 8},
                                                                                       {"c10::complex<double>", 16},
                                                                                       {"QInt8", 1},
                                                                                       {"QUInt8", 1}}};
  for (const auto& [name, bytes] : sizes) {
    if (name == dtype) return bytes;
  }
  return contains(dtype, "Float8") ? 1 : 0;
}

namespace {

// A list in text form without lists inside: its position just after "[", and its length.
template <class Visit>
void for_each_innermost_list(std::string_view text, const Visit& visit) {
  std::size_t open = std::string_view::npos;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[') {
      open = i + 1;
    } else if (c == ']' && open != std::string_view::npos) {
      visit(text.substr(open, i - open));
      open = std::string_view::npos;
    }
  }
}

// The integers of "7, 8, 0, 1024, 4, 'cuda:0'" up to the first field that is none.
std::vector<std::int64_t> leading_integers(std::string_view list) {
  std::vector<std::int64_t> numbers;
  std::size_t i = 0;
  while (i < list.size()) {
    while (i < list.size() && (list[i] == ' ' || list[i] == ',')) ++i;
    const std::size_t begin = i;
    std::int64_t value = 0;
    while (i < list.size() && list[i] >= '0' && list[i] <= '9' && value < (std::int64_t{1} << 58)) {
      value = value * 10 + (list[i++] - '0');
    }
    if (i == begin || (i < list.size() && list[i] != ',' && list[i] != ' ')) break;
    numbers.push_back(value);
  }
  return numbers;
}

// False where the product leaves the range of sizes that can be.
bool multiply(std::int64_t& product, std::int64_t factor) {
  constexpr std::int64_t limit = std::int64_t{1} << 60;
  if (factor != 0 && product > limit / factor) return false;
  product *= factor;
  return true;
}

}  // namespace

std::int64_t tensor_bytes(std::string_view values) {
  std::int64_t total = -1;
  for_each_innermost_list(values, [&total](std::string_view list) {
    // [tensor id, storage id, offset, elements, bytes an element, device]
    const std::size_t device = list.find_first_of("'\"");
    if (device == std::string_view::npos) return;
    const std::vector<std::int64_t> numbers = leading_integers(list);
    if (numbers.size() != 5) return;
    std::int64_t bytes = numbers[3];
    if (multiply(bytes, numbers[4])) total = std::max<std::int64_t>(total, 0) + bytes;
  });
  return total;
}

std::int64_t element_count(std::string_view dims) {
  std::int64_t total = -1;
  for_each_innermost_list(dims, [&total](std::string_view list) {
    std::int64_t elements = 1;
    for (const std::int64_t size : leading_integers(list)) {
      if (!multiply(elements, size)) return;
    }
    total = std::max<std::int64_t>(total, 0) + elements;
  });
  return total;
}

}  // namespace chakra::pytorch
