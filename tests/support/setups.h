// Setups that several tests use, built from the catalogues.
#pragma once

#include <filesystem>
#include <string>

#include "hardware/catalogue.h"
#include "models/catalogue.h"
#include "sim/round.h"
#include "source_folder.h"

namespace treeline::testing {

inline sim::Model model(const std::string& name) { return models::load_model(source_folder() / "models", name).value; }
inline sim::Device device(const std::string& name) { return hardware::load_device(source_folder() / "hardware", name).value; }
inline sim::Stack stack(const std::string& name) { return hardware::load_stack(source_folder() / "hardware", name).value; }

inline sim::Platform platform(const std::string& device_name, const std::string& stack_name, double ranks = 1.0) {
    sim::Platform result;
    result.device = device(device_name);
    result.stack = stack(stack_name);
    result.ranks = ranks;
    return result;
}

/// A target with a smaller model of the catalogue as drafter, both as published, geometric acceptance 0.8.
inline sim::RoundSetup pair_setup(const std::string& target, const std::string& drafter, const sim::Platform& where) {
    sim::RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = where;
    const sim::Model draft = model(drafter);
    setup.drafter = sim::IndependentDrafter{draft, draft.precision};
    setup.acceptance = sim::Acceptance::geometric(0.8);
    setup.rollback = sim::rollbacks_for(setup.target).front();
    return setup;
}

}  // namespace treeline::testing
