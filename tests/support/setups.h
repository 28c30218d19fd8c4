// Setups that several tests use, built from the catalogues.
#pragma once

#include <filesystem>
#include <string>

#include "hardware/catalogue.h"
#include "models/catalogue.h"
#include "sim/round.h"
#include "source_folder.h"

namespace treeline::testing {

inline Model model(const std::string& name) { return load_model(source_folder() / "models", name).value; }
inline Device device(const std::string& name) { return load_device(source_folder() / "hardware", name).value; }
inline Stack stack(const std::string& name) { return load_stack(source_folder() / "hardware", name).value; }

inline Platform platform(const std::string& device_name, const std::string& stack_name, double ranks = 1.0) {
    Platform result;
    result.device = device(device_name);
    result.stack = stack(stack_name);
    result.ranks = ranks;
    return result;
}

/// A target with a smaller model of the catalogue as drafter, both as published, geometric acceptance 0.8.
inline RoundSetup pair_setup(const std::string& target, const std::string& drafter, const Platform& where) {
    RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = where;
    const Model draft = model(drafter);
    setup.drafter = IndependentDrafter{draft, draft.precision};
    setup.acceptance = Acceptance::geometric(0.8);
    setup.rollback = rollbacks_for(setup.target).front();
    return setup;
}

}  // namespace treeline::testing
