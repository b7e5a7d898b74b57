// SPDX-License-Identifier: MIT
#include "pytorch/name_alignment.hpp"

#include <algorithm>
#include <unordered_map>

namespace chakra::pytorch {

namespace {

constexpr std::uint32_t no_state = 0xFFFF'FFFFU;

// Suffix automaton: recognises every run of a sequence.
class RunAutomaton {
 public:
  struct State {
    std::size_t length = 0;     // longest run that leads here
    std::size_t first_end = 0;  // where such a run ends first, exclusive
    std::uint32_t link = no_state;
  };

  explicit RunAutomaton(std::span<const std::uint32_t> sequence) {
    states_.reserve(2 * sequence.size() + 1);
    states_.emplace_back();
    for (const std::uint32_t symbol : sequence) extend(symbol);
  }

  const State& state(std::uint32_t s) const { return states_[s]; }

  std::uint32_t next(std::uint32_t s, std::uint32_t symbol) const {
    const auto found = edges_.find(key(s, symbol));
    return found == edges_.end() ? no_state : found->second;
  }

 private:
  static std::uint64_t key(std::uint32_t s, std::uint32_t symbol) { return (std::uint64_t{s} << 32) | symbol; }

  void extend(std::uint32_t symbol) {
    const auto current = static_cast<std::uint32_t>(states_.size());
    const std::size_t length = states_[last_].length + 1;
    states_.push_back({length, length, no_state});
    std::uint32_t p = last_;
    while (p != no_state && next(p, symbol) == no_state) {
      set(p, symbol, current);
      p = states_[p].link;
    }
    if (p == no_state) {
      states_[current].link = 0;
    } else {
      states_[current].link = split(p, symbol);
    }
    last_ = current;
  }

  // The state for the runs of p's length + 1: q itself, or its clone of that length.
  std::uint32_t split(std::uint32_t p, std::uint32_t symbol) {
    const std::uint32_t q = next(p, symbol);
    if (states_[p].length + 1 == states_[q].length) return q;
    const auto clone = static_cast<std::uint32_t>(states_.size());
    states_.push_back({states_[p].length + 1, states_[q].first_end, states_[q].link});
    for (const std::uint32_t s : symbols_[q]) set(clone, s, next(q, s));
    while (p != no_state && next(p, symbol) == q) {
      set(p, symbol, clone);
      p = states_[p].link;
    }
    states_[q].link = clone;
    return clone;
  }

  void set(std::uint32_t s, std::uint32_t symbol, std::uint32_t target) {
    if (edges_.insert_or_assign(key(s, symbol), target).second) {
      if (symbols_.size() < states_.size()) symbols_.resize(states_.size());
      symbols_[s].push_back(symbol);
    }
    if (symbols_.size() < states_.size()) symbols_.resize(states_.size());
  }

  std::vector<State> states_;
  std::vector<std::vector<std::uint32_t>> symbols_;  // that leave a state
  std::unordered_map<std::uint64_t, std::uint32_t> edges_;
  std::uint32_t last_ = 0;
};

void align_into(std::span<const std::uint32_t> pattern, std::span<const std::uint32_t> text, std::size_t min_length,
                std::vector<CommonRun>& runs) {
  struct Part {
    std::size_t pattern_begin, pattern_end, text_begin, text_end;
    int depth;
  };
  // Every level looks at each element once; the depth is bounded, so the whole stays linear.
  constexpr int max_depth = 24;
  std::vector<Part> open = {{0, pattern.size(), 0, text.size(), 0}};
  while (!open.empty()) {
    const Part part = open.back();
    open.pop_back();
    const CommonRun run = longest_common_run(pattern.subspan(part.pattern_begin, part.pattern_end - part.pattern_begin),
                                             text.subspan(part.text_begin, part.text_end - part.text_begin));
    if (run.length < min_length) continue;
    const CommonRun placed{run.first_in_pattern + part.pattern_begin, run.first_in_text + part.text_begin, run.length};
    runs.push_back(placed);
    if (part.depth == max_depth) continue;
    open.push_back(
        {part.pattern_begin, placed.first_in_pattern, part.text_begin, placed.first_in_text, part.depth + 1});
    open.push_back({placed.first_in_pattern + run.length, part.pattern_end, placed.first_in_text + run.length,
                    part.text_end, part.depth + 1});
  }
}

}  // namespace

CommonRun longest_common_run(std::span<const std::uint32_t> pattern, std::span<const std::uint32_t> text) {
  CommonRun best;
  if (pattern.empty() || text.empty()) return best;
  const RunAutomaton automaton(pattern);
  std::uint32_t state = 0;
  std::size_t length = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    while (state != 0 && automaton.next(state, text[i]) == no_state) {
      state = automaton.state(state).link;
      length = automaton.state(state).length;
    }
    const std::uint32_t next = automaton.next(state, text[i]);
    if (next == no_state) {
      length = 0;
      continue;
    }
    state = next;
    ++length;
    if (length > best.length) best = {automaton.state(state).first_end - length, i + 1 - length, length};
  }
  return best;
}

std::vector<CommonRun> align_runs(std::span<const std::uint32_t> pattern, std::span<const std::uint32_t> text,
                                  std::size_t min_length) {
  std::vector<CommonRun> runs;
  align_into(pattern, text, std::max<std::size_t>(min_length, 1), runs);
  std::sort(runs.begin(), runs.end(),
            [](const CommonRun& a, const CommonRun& b) { return a.first_in_pattern < b.first_in_pattern; });
  return runs;
}

std::size_t count_occurrences(std::span<const std::uint32_t> pattern, std::span<const std::uint32_t> text) {
  if (pattern.empty() || pattern.size() > text.size()) return 0;
  std::vector<std::size_t> border(pattern.size(), 0);
  for (std::size_t i = 1; i < pattern.size(); ++i) {
    std::size_t k = border[i - 1];
    while (k > 0 && pattern[i] != pattern[k]) k = border[k - 1];
    border[i] = pattern[i] == pattern[k] ? k + 1 : k;
  }
  std::size_t count = 0;
  std::size_t k = 0;
  for (const std::uint32_t symbol : text) {
    while (k > 0 && symbol != pattern[k]) k = border[k - 1];
    if (symbol == pattern[k]) ++k;
    if (k == pattern.size()) {
      ++count;
      k = border[k - 1];
    }
  }
  return count;
}

}  // namespace chakra::pytorch
