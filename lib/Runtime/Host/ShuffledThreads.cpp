//===- ShuffledThreads.cpp - threads of a team, one at a time -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: what a schedule lets run in any order does, by a seed, so that a missing
// barrier gives wrong values and not, once in a while, a race that nothing sees. Threads
// are contexts of one thread, each with a stack of its own.
//
//===----------------------------------------------------------------------===//
#include "ShuffledThreads.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <ucontext.h>
#include <utility>
#include <vector>

using namespace ft::rt;

namespace {

/// splitmix64: the next number below `bound`.
uint64_t draw(uint64_t &seed, uint64_t bound) {
  uint64_t z = seed += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % bound;
}

class Team {
public:
  using Fn = void (*)(void *, int64_t, int64_t);
  Team(Fn fn, void *env, int threads) : fn(fn), env(env), members(size_t(threads)) {}
  void run(uint64_t &seed);
  void wait();

private:
  enum class State { ready, waiting, done };
  struct Member {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    State state = State::ready;
  };
  static constexpr size_t stackBytes = size_t(1) << 20;
  static void begin();
  std::vector<size_t> inState(State state) const;

  Fn fn;
  void *env;
  std::vector<Member> members;
  size_t running = 0;
  ucontext_t home;
};

thread_local Team *team = nullptr;

} // namespace

void Team::begin() {
  Team *own = team;
  own->fn(own->env, int64_t(own->running), int64_t(own->members.size()));
  own->members[own->running].state = State::done;
  swapcontext(&own->members[own->running].context, &own->home);
}

void Team::wait() {
  Member &self = members[running];
  self.state = State::waiting;
  swapcontext(&self.context, &home);
}

std::vector<size_t> Team::inState(State state) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i].state == state)
      found.push_back(i);
  return found;
}

void Team::run(uint64_t &seed) {
  for (Member &member : members) {
    member.stack.reset(new char[stackBytes]);
    getcontext(&member.context);
    member.context.uc_stack.ss_sp = member.stack.get();
    member.context.uc_stack.ss_size = stackBytes;
    member.context.uc_link = nullptr;
    makecontext(&member.context, &Team::begin, 0);
  }
  Team *before = std::exchange(team, this);
  for (;;) {
    std::vector<size_t> ready = inState(State::ready);
    if (ready.empty()) {
      size_t waiting = inState(State::waiting).size();
      if (waiting == 0)
        break;
      if (waiting < members.size()) {
        fprintf(stderr, "%zu of %zu threads wait at a barrier that the others never reach\n", waiting, members.size());
        abort();
      }
      for (Member &member : members)
        member.state = State::ready;
      continue;
    }
    running = ready[draw(seed, ready.size())];
    swapcontext(&home, &members[running].context);
  }
  team = before;
}

void ft::rt::runShuffledRange(void (*fn)(void *, int64_t, int64_t), void *env, int64_t n, uint64_t &seed) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[draw(seed, i)]);
  for (int64_t i : order)
    fn(env, i, i + 1);
}

void ft::rt::runShuffledRegion(void (*fn)(void *, int64_t, int64_t), void *env, int threads, uint64_t &seed) {
  Team(fn, env, threads).run(seed);
}

bool ft::rt::waitShuffled() {
  if (!team)
    return false;
  team->wait();
  return true;
}
