#include "requests/decode/decode_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "models/description.h"
#include "requests/flag_values.h"
#include "requests/keys/decode_keys.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "sim/rollback/rollback.h"
#include "text/parse_number.h"

namespace treeline::requests {
namespace {

/// A catalogue name, a path, or an inline description.
sim::Model read_model(json::Reader& at, std::string_view key, Descriptions& descriptions) {
    const nlohmann::ordered_json& raw = at.raw();
    if (raw.contains(key) && raw.at(std::string(key)).is_object()) {
        json::Reader description = at.object(key);
        sim::Model model = models::read_model_description(description);
        description.finish();
        return model;
    }
    const sim::Model* model = descriptions.model(at, key);
    return model != nullptr ? *model : sim::Model{};
}

decoder::Drafter read_decode_drafter(json::Reader at, Descriptions& descriptions, std::string& label) {
    const std::string kind = read(at, decode_drafter_keys::kind);
    decoder::Drafter drafter;
    if (kind == "model") {
        drafter = decoder::OwnModel{read_model(at, decode_drafter_keys::model, descriptions)};
        label = std::get<decoder::OwnModel>(drafter).model.name;
    } else if (kind == "ngram") {
        drafter = decoder::NgramLookup{read<int>(at, decode_drafter_keys::longest_match)};
        label = "n-gram";
    } else {
        decoder::SharedLayers shared;
        shared.layers = read<int>(at, decode_drafter_keys::layers);
        shared.window = read_or<int>(at, decode_drafter_keys::window, 0);
        shared.sink = read<int>(at, decode_drafter_keys::sink);
        drafter = shared;
        label = fmt::format("first {} layers", shared.layers);
        if (shared.window > 0) {
            label += fmt::format(", window {} + {}", shared.window, shared.sink);
        }
    }
    at.finish();
    return drafter;
}

/// "draft_tokens" or "shape". Shapes that grow by acceptance assume ranks that halve.
sim::DraftTree read_decode_tree(json::Reader& root, Descriptions& descriptions, const decoder::DecodeSetup& setup,
                                std::string& label) {
    sim::TreeShape shape = sim::ChainShape{0};
    if (root.has(decode_keys::draft_tokens) && root.has(decode_keys::shape)) {
        root.problem(decode_keys::shape, "is given together with draft_tokens, but only one is allowed");
    } else if (root.has(decode_keys::shape)) {
        shape = read_shape_under(root, decode_keys::shape, descriptions);
    } else {
        const bool drafts = !std::holds_alternative<std::monostate>(setup.drafter);
        shape = sim::ChainShape{read_or<int>(root, decode_keys::draft_tokens, drafts ? decode_keys::usual_draft_tokens : 0)};
    }
    label = sweeps::text_of(shape);
    if (!problems(shape).empty()) {
        return {};
    }
    const auto& given = setup.given_acceptance;
    const bool ranked = given && !given->per_rank.empty();
    return sim::build_tree(shape, ranked ? sim::RankAcceptance(given->per_rank) : sim::RankAcceptance::assumed());
}

std::optional<decoder::GivenAcceptance> read_decode_acceptance(json::Reader at) {
    decoder::GivenAcceptance given;
    const bool greedy = read(at, decode_acceptance_keys::greedy);
    const int ways = (greedy ? 1 : 0) + (at.has(decode_acceptance_keys::per_position) ? 1 : 0) +
                     (at.has(decode_acceptance_keys::per_rank) ? 1 : 0);
    if (ways != 1) {
        at.problem({}, R"(needs exactly one of "greedy": true, "per_position" and "per_rank")");
        return std::nullopt;
    }
    if (at.has(decode_acceptance_keys::per_position)) {
        given.per_position = read(at, decode_acceptance_keys::per_position);
    } else if (at.has(decode_acceptance_keys::per_rank)) {
        given.per_rank = read(at, decode_acceptance_keys::per_rank);
    }
    static_cast<void>(read(at, decode_acceptance_keys::source));
    at.finish();
    return greedy ? std::nullopt : std::optional(given);
}

/// Chains run unrolled, trees packed; states are replayed.
void read_policy(json::Reader& root, decoder::DecodeSetup& setup) {
    const bool is_chain = setup.tree.depth() == setup.tree.nodes();
    setup.verification =
        read_or(root, decode_keys::verification, is_chain ? sim::Verification::unrolled : sim::Verification::packed);
    const sim::Rollback usual = sim::has_recurrent_state(setup.target) ? sim::Rollback::replay : sim::Rollback::truncate;
    setup.rollback = read_rollback(root, decode_keys::rollback).value_or(usual);
}

void read_device(json::Reader& root, const std::string& name, decoder::DecodeSetup& setup) {
    setup.device = name.starts_with("cuda") ? decoder::DeviceKind::cuda : decoder::DeviceKind::cpu;
    const std::string rest = name.substr(std::min<std::size_t>(4, name.size()));
    if (name == "cpu" || name == "cuda") {
        return;
    }
    const bool numbered = setup.device == decoder::DeviceKind::cuda && rest.starts_with(':');
    const std::optional<int> index = numbered ? text::parse_number<int>(std::string_view(rest).substr(1)) : std::nullopt;
    setup.device_index = index.value_or(0);
    if (!index) {
        root.problem(decode_keys::device,
                     fmt::format(R"(must be "cpu", "cuda" or "cuda:" and a number, not "{}")", json::shown_key(name)));
    }
}

kernels::ElementType read_elements(json::Reader& root, const json::WordKey& key) {
    return read(root, key) == decode_keys::elements[1] ? kernels::ElementType::bf16 : kernels::ElementType::fp32;
}

void read_run(json::Reader& root, const DecodeFlags& flags, decoder::DecodeInput& input) {
    decoder::DecodeSetup& setup = input.setup;
    setup.new_tokens = read<int>(root, decode_keys::tokens);
    setup.batch = read<int>(root, decode_keys::batch);
    setup.prompt_tokens = read<int>(root, decode_keys::prompt_tokens);
    setup.context_tokens = read<int>(root, decode_keys::context_tokens);
    setup.elements = read_elements(root, decode_keys::precision);
    setup.state_elements = read_elements(root, decode_keys::state);
    const std::string of_file = read(root, decode_keys::device);
    input.device_label = flags.device.empty() ? of_file : flags.device;
    read_device(root, input.device_label, setup);
    const std::string graphs = read(root, decode_keys::graphs);
    setup.graphs = graphs == "none"    ? decoder::GraphUse::none
                   : graphs == "round" ? decoder::GraphUse::round
                                       : decoder::GraphUse::phases;

    setup.seed = read<std::uint64_t>(root, decode_keys::seed);
    input.repeat = read<int>(root, decode_keys::repeat);
    if (!flags.seed.empty()) {
        setup.seed =
            static_cast<std::uint64_t>(whole_number("--seed", flags.seed, decode_keys::seed.low, decode_keys::seed.high));
    }
    if (!flags.repeat.empty()) {
        input.repeat =
            static_cast<int>(whole_number("--repeat", flags.repeat, decode_keys::repeat.low, decode_keys::repeat.high));
    }
    input.compare_plain = read(root, decode_keys::plain);
}

}  // namespace

decoder::DecodeInput read_decode(json::Document& document, Descriptions& descriptions, const DecodeFlags& flags) {
    json::Reader root = document.root();
    decoder::DecodeInput input;
    decoder::DecodeSetup& setup = input.setup;
    input.title = read(root, decode_keys::title);
    input.source = read(root, decode_keys::source);
    static_cast<void>(root.has(decode_keys::model));
    if (!root.raw().contains("target")) {
        root.problem(decode_keys::model, "is missing");
    } else {
        setup.target = read_model(root, decode_keys::model, descriptions);
    }
    input.drafter_label = "none";
    if (root.has(decode_keys::drafter)) {
        setup.drafter = read_decode_drafter(root.object(decode_keys::drafter), descriptions, input.drafter_label);
    }
    if (root.has(decode_keys::acceptance)) {
        setup.given_acceptance = read_decode_acceptance(root.object(decode_keys::acceptance));
    }
    setup.tree = read_decode_tree(root, descriptions, setup, input.shape_label);
    read_policy(root, setup);
    read_run(root, flags, input);
    root.finish();
    if (document.problems().empty()) {
        document.add_problems(problems_of(setup));
    }
    document.throw_if_problems();
    return input;
}

}  // namespace treeline::requests
