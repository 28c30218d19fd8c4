// The design space: every variant (target, precision, platform, drafter, rollback) crossed with shapes of drafts, batch and
// context.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/round.h"
#include "sweeps/condition.h"
#include "sweeps/load.h"

namespace treeline::sweeps {

/// A variant's name on each axis, in the words of the input ("h100-sxm", "llama-3.1-8b").
struct VariantLabels {
    std::string target, precision, device, stack, mode, drafter, rollback;
    int tensor_parallel = 1;
    sim::Parallelism parallel = {};  ///< beside it

    /// "8x h100-sxm", "h100-sxm", or "8x h100-sxm (attention data 8, experts 8)".
    [[nodiscard]] std::string platform() const;
    /// "llama-3.1-8b on 8x h100-sxm, replay" (what it drafts with, where, and the rollback where there is a choice).
    [[nodiscard]] std::string text() const;
    /// The label on the axis of that name; null if there is no such axis.
    [[nodiscard]] const std::string* find(const std::string& axis) const;
};

/// Which elements of an input's lists a variant was made of.
struct VariantOrigin {
    std::size_t target = 0;              ///< a model in one precision
    std::size_t platform = 0;            ///< a device with its stack and cost mode
    std::optional<std::size_t> drafter;  ///< nothing for plain decoding

    bool operator==(const VariantOrigin&) const = default;
    [[nodiscard]] bool same_platform(const VariantOrigin& other) const {
        return target == other.target && platform == other.platform;
    }
};

/// What may change with the batch while one server runs.
enum class Switching {
    shapes,   ///< whatever is drafted
    lengths,  ///< how long chains are, down to 0
    nothing,  ///< one shape at every batch
};

/// One choice on every axis that is not numeric.
struct Variant {
    VariantLabels labels;
    sim::RoundSetup setup;
    VariantOrigin origin;
    std::string problem = {};  ///< why it may not run although it could be priced, as a sentence about it; empty: it may
    Switching switching = Switching::shapes;
    std::string checkpoint = {};  ///< of its drafter, where it is published; else empty
    /// Its drafter is a head that nobody is known to have trained for the target, and none that the input names: it shows what
    /// one would gain, and is not recommended.
    bool untrained = false;

    /// Plain decoding.
    [[nodiscard]] bool plain() const { return std::holds_alternative<sim::NoDrafter>(setup.drafter); }
};

/// A variant that cannot be priced or may not be used, and why.
struct Exclusion {
    static constexpr auto no_variant = static_cast<std::size_t>(-1);  ///< a platform that no variant was made of

    std::string label;
    std::string reason;
    std::size_t variant = 0;  ///< index into the variants it is one of
};

struct DesignSpace {
    std::vector<Variant> variants;
    std::vector<sim::Speculation> speculations = sim::chains_up_to(16);  ///< every shape once; the first is plain decoding
    std::vector<int> speculation;                                        ///< the axis: indices into `speculations`
    std::vector<double> batch;                                           ///< or what `kind` says
    std::vector<double> context;
    std::vector<ConditionText> conditions;
    LoadKind kind = LoadKind::batch;  ///< of the axis `batch`; other kinds need a steady state

    /// Points before conditions: variants × shapes × batch × context.
    [[nodiscard]] std::size_t size() const;
    /// Every violated constraint as a sentence (empty axes, absurd values, conditions that do not parse).
    [[nodiscard]] std::vector<std::string> problems() const;
};

}  // namespace treeline::sweeps
