// Setups that several tests use, built from the catalogues.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hardware/catalogue.h"
#include "models/catalogue.h"
#include "sim/round.h"
#include "source_folder.h"

namespace treeline::testing {

/// What load(name) gives, read once for each name: with sanitizers reading a description takes longer than pricing it.
template <class Load>
auto read_once(const std::string& name, Load load) {
    static std::map<std::string, decltype(load(name))> known;
    const auto at = known.find(name);
    return at != known.end() ? at->second : known.emplace(name, load(name)).first->second;
}

inline sim::Model model(const std::string& name) {
    return read_once(name, [](const std::string& of) { return models::load_model(source_folder() / "models", of).value; });
}
inline sim::Device device(const std::string& name) {
    return read_once(name, [](const std::string& of) { return hardware::load_device(source_folder() / "hardware", of).value; });
}
inline sim::Stack stack(const std::string& name) {
    return read_once(name, [](const std::string& of) { return hardware::load_stack(source_folder() / "hardware", of).value; });
}

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
