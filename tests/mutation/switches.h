// What scripts/mutation.py writes into a copy of the sources in place of an operator or a constant: all changes are compiled at
// once, and TREELINE_MUTANT says which one holds while a process runs. A binary operator becomes two of its kind with a switch
// between its operands, `a + Plus<7>{} + b`, which keeps precedence. A change that no compiler would take (another type, no
// such operator) is never on, and not listed. TREELINE_MUTANT_TRACE names a file that gets two letters a change at the end:
// whether it can be compiled, and whether it was met.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace treeline::mutation {

constexpr int most = 16384;
inline std::array<char, most> possible{};
inline std::array<char, most> met{};

/// -1: none.
inline int chosen_mutant() {
    const char* text = std::getenv("TREELINE_MUTANT");
    return text != nullptr ? std::atoi(text) : -1;
}
inline const int chosen = chosen_mutant();

class Trace {
public:
    Trace() = default;
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;
    ~Trace() {
        if (const char* file = std::getenv("TREELINE_MUTANT_TRACE")) {
            std::ofstream out(file);
            for (int id = 0; id < most; ++id) {
                out << (possible[id] != 0 ? 'p' : '-') << (met[id] != 0 ? 'm' : '-');
            }
        }
    }
};
inline const Trace trace;

inline bool note_possible(int id) {
    possible[id] = 1;
    return true;
}
template <int id>
inline const bool noted = note_possible(id);

template <int id>
bool on() {
    static_cast<void>(noted<id>);
    met[id] = 1;
    return chosen == id;
}

template <int id>
double value(double usual, double changed) {
    return on<id>() ? changed : usual;
}

// clang-format off
#define TREELINE_MUTATION(Name, usual, changed)                                                                                      \
    template <int id> struct Name {};                                                                                                \
    template <int id, typename A> struct Name##Left { A&& a; };                                                                      \
    template <int id, typename A> constexpr Name##Left<id, A> operator usual(A&& a, Name<id>) { return {std::forward<A>(a)}; }       \
    template <int id, typename A, typename B> constexpr decltype(auto) operator usual(Name##Left<id, A>&& left, B&& b) {             \
        if constexpr (requires { { std::forward<A>(left.a) changed std::forward<B>(b) } -> std::same_as<decltype(std::forward<A>(left.a) usual std::forward<B>(b))>; }) { \
            if (on<id>()) { return std::forward<A>(left.a) changed std::forward<B>(b); }                                             \
        }                                                                                                                            \
        return std::forward<A>(left.a) usual std::forward<B>(b);                                                                     \
    }
TREELINE_MUTATION(Plus, +, -)
TREELINE_MUTATION(Minus, -, +)
TREELINE_MUTATION(Times, *, /)
TREELINE_MUTATION(Over, /, *)
TREELINE_MUTATION(Less, <, <=)
TREELINE_MUTATION(LessOrEqual, <=, <)
TREELINE_MUTATION(Greater, >, >=)
TREELINE_MUTATION(GreaterOrEqual, >=, >)
TREELINE_MUTATION(Equal, ==, !=)

// Assignments group from the right: `a += PlusAssign<7>{} += b`.
#define TREELINE_MUTATION_OF_ASSIGNMENT(Name, usual, changed)                                                                        \
    template <int id> struct Name {};                                                                                                \
    template <int id, typename B> struct Name##Right { B&& b; };                                                                     \
    template <int id, typename B> constexpr Name##Right<id, B> operator usual(Name<id>, B&& b) { return {std::forward<B>(b)}; }      \
    template <typename A, int id, typename B> constexpr A& operator usual(A& a, Name##Right<id, B>&& right) {                        \
        if constexpr (requires { a changed std::forward<B>(right.b); }) {                                                            \
            if (on<id>()) { a changed std::forward<B>(right.b); return a; }                                                          \
        }                                                                                                                            \
        a usual std::forward<B>(right.b);                                                                                            \
        return a;                                                                                                                    \
    }
TREELINE_MUTATION_OF_ASSIGNMENT(PlusAssign, +=, -=)
TREELINE_MUTATION_OF_ASSIGNMENT(TimesAssign, *=, /=)

// Smallest<7>(...) in place of std::min(...), Smallest<7, double>(...) of std::min<double>(...).
#define TREELINE_MUTATION_OF_EXTREME(Name, usual, changed)                                                                           \
    template <int id, typename A> A Name(std::initializer_list<A> values) { return on<id>() ? changed(values) : usual(values); }     \
    template <int id, typename A> A Name(const A& a, const A& b) { return on<id>() ? changed<A>(a, b) : usual<A>(a, b); }            \
    template <int id, typename A, typename C> A Name(const A& a, const A& b, C than) { return on<id>() ? changed(a, b, than) : usual(a, b, than); }
TREELINE_MUTATION_OF_EXTREME(smallest, std::min, std::max)
TREELINE_MUTATION_OF_EXTREME(largest, std::max, std::min)
// clang-format on

/// Whether the first operand of `a && b` (`a || b` where it is changed) decides; the answer is then on<id>().
template <int id, typename A>
bool first_decides_and(A&& first) {
    return static_cast<bool>(std::forward<A>(first)) == on<id>();
}
/// Whether the first operand of `a || b` (`a && b` where it is changed) decides; the answer is then !on<id>().
template <int id, typename A>
bool first_decides_or(A&& first) {
    return static_cast<bool>(std::forward<A>(first)) != on<id>();
}

}  // namespace treeline::mutation
