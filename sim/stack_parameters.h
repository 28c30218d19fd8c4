// The numbers of a stack, each described once: its key in a stack's file, its range, what it means and what holds without it,
// whether a slower host takes it longer, and within what a fit may look for it. Reader, checks, fits, output and the table of
// hardware/README.md come from here.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/host_times.h"
#include "sim/stack.h"

namespace treeline::sim {

enum class StackUnit { seconds, bytes, ratio };

struct StackParameter {
    std::string_view name;
    StackUnit unit;
    double low, high;             ///< of what is stated; what is not stated may lie outside (0: there is no such thing)
    std::string_view meaning;     ///< Markdown
    std::string_view otherwise;   ///< what holds where it is not stated, in words; empty: it must be stated
    double (*get)(const Stack&);  ///< not a number: nothing is stated
    void (*set)(Stack&, double);
    std::string_view as = {};  ///< the number whose value it takes where it is not stated; empty: that of Stack{}
    std::optional<NumberFormat> format = {};  ///< of the products that it is about; nothing: of any
    bool on_host = false;                     ///< a time of the host, which Stack::on_host divides by the host's speed
    double fit_low = 0.0, fit_high = 0.0;     ///< between which a fit may look for it; 0: none does

    [[nodiscard]] bool is_required() const { return otherwise.empty(); }
    /// Whether there is a value without it, so that it may hold under a condition.
    [[nodiscard]] bool may_be_missing() const;
    [[nodiscard]] bool may_be_fitted() const { return fit_high > 0.0; }
};

/// In the order in which they are read: a number follows the one whose value it may take.
const std::vector<StackParameter>& stack_parameters();

bool has_stack_parameter(std::string_view name);

/// Precondition: there is one of this name.
const StackParameter& stack_parameter(std::string_view name);

}  // namespace treeline::sim
