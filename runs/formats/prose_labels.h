// Internal to the formats: what words around a figure say of its load and of its deployment. Texts are in lower case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace treeline::runs::run_formats_of {

/// Tokens of context that a clause names ("at 8k ctx", "64k:", "context 8192", "@ d4096"); 0 where it names none.
double context_in(std::string_view clause);

/// The load that stands before an equals sign ("1k=68", "bs4=340").
struct LoadLabel {
    double context = 0.0, requests = 0.0;  ///< 0: not this

    [[nodiscard]] bool known() const { return context > 0.0 || requests > 0.0; }
};
/// That of the number at `at`; unknown where no equals sign or another label stands before it.
LoadLabel load_before(std::string_view text, std::size_t at);

/// Words that tell deployments apart; empty where none is said.
struct DeploymentWords {
    std::string model, format, device;  ///< "35b-a3b", "q4_k_m", "rtx 3090"

    [[nodiscard]] bool any() const { return !model.empty() || !format.empty() || !device.empty(); }
    /// Whether both name a model, a format or a device, and not the same.
    [[nodiscard]] bool contradicts(const DeploymentWords& other) const;
    /// Takes over what is not known yet.
    void add(const DeploymentWords& other);
    [[nodiscard]] std::string text() const;
};
/// The first of each kind that a text names.
DeploymentWords deployment_in(std::string_view text);

}  // namespace treeline::runs::run_formats_of
