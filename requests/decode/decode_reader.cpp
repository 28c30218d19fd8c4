#include "requests/decode/decode_reader.h"

#include <limits>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "models/description.h"
#include "requests/flag_values.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "sim/rollback/rollback.h"
#include "text/parse_number.h"

namespace treeline {
namespace {

constexpr std::int64_t most_tokens = 1 << 20;

/// A catalogue name, a path, or an inline description.
Model read_model(json::Reader& at, std::string_view key, Descriptions& descriptions) {
    const nlohmann::ordered_json& raw = at.raw();
    if (raw.contains(key) && raw.at(std::string(key)).is_object()) {
        json::Reader description = at.object(key);
        Model model = read_model_description(description);
        description.finish();
        return model;
    }
    const Model* model = descriptions.model(at, key);
    return model != nullptr ? *model : Model{};
}

decoder::Drafter read_decode_drafter(json::Reader at, Descriptions& descriptions, std::string& label) {
    const std::string kind = at.choice("kind", {"first-layers", "model", "ngram"});
    decoder::Drafter drafter;
    if (kind == "model") {
        drafter = decoder::OwnModel{read_model(at, "model", descriptions)};
        label = std::get<decoder::OwnModel>(drafter).model.name;
    } else if (kind == "ngram") {
        drafter = decoder::NgramLookup{static_cast<int>(at.count_or("longest_match", 3, 1, 64))};
        label = "n-gram";
    } else {
        decoder::SharedLayers shared;
        shared.layers = static_cast<int>(at.count("layers", 1, 100'000));
        shared.window = static_cast<int>(at.count_or("window", 0, 1, most_tokens));
        shared.sink = static_cast<int>(at.count_or("sink", 0, 0, most_tokens));
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
DraftTree read_decode_tree(json::Reader& root, Descriptions& descriptions, const decoder::DecodeSetup& setup,
                           std::string& label) {
    TreeShape shape = ChainShape{0};
    if (root.has("draft_tokens") && root.has("shape")) {
        root.problem("shape", "is given together with draft_tokens, but only one is allowed");
    } else if (root.has("shape")) {
        shape = read_shape_under(root, "shape", descriptions);
    } else {
        const bool drafts = !std::holds_alternative<std::monostate>(setup.drafter);
        shape = ChainShape{static_cast<int>(root.count_or("draft_tokens", drafts ? 4 : 0, 0, most_draft_tokens))};
    }
    label = text_of(shape);
    if (!problems(shape).empty()) {
        return {};
    }
    const auto& given = setup.given_acceptance;
    const bool ranked = given && !given->per_rank.empty();
    return build_tree(shape, ranked ? RankAcceptance(given->per_rank) : RankAcceptance::assumed());
}

std::optional<decoder::GivenAcceptance> read_decode_acceptance(json::Reader at) {
    decoder::GivenAcceptance given;
    const bool greedy = at.flag_or("greedy", false);
    const int ways = (greedy ? 1 : 0) + (at.has("per_position") ? 1 : 0) + (at.has("per_rank") ? 1 : 0);
    if (ways != 1) {
        at.problem({}, R"(needs exactly one of "greedy": true, "per_position" and "per_rank")");
        return std::nullopt;
    }
    if (at.has("per_position")) {
        given.per_position = at.numbers("per_position", 0.0, 1.0);
    } else if (at.has("per_rank")) {
        given.per_rank = at.numbers("per_rank", 0.0, 1.0);
    }
    static_cast<void>(at.text_or("source", ""));
    at.finish();
    return greedy ? std::nullopt : std::optional(given);
}

/// Chains run unrolled, trees packed; states are replayed.
void read_policy(json::Reader& root, decoder::DecodeSetup& setup) {
    const bool is_chain = setup.tree.depth() == setup.tree.nodes();
    setup.verification = root.choice_or("verification", is_chain ? Verification::unrolled : Verification::packed);
    const Rollback usual = has_recurrent_state(setup.target) ? Rollback::replay : Rollback::truncate;
    setup.rollback = read_rollback(root, "rollback").value_or(usual);
}

/// The text of `flag` if it is given, else that under `key`.
std::string flag_or_key(json::Reader& root, const std::string& flag, std::string_view key, const char* fallback) {
    const std::string of_file = root.text_or(key, fallback);
    return flag.empty() ? of_file : flag;
}

void read_device(json::Reader& root, const std::string& name, decoder::DecodeSetup& setup) {
    setup.device = name.starts_with("cuda") ? decoder::DeviceKind::cuda : decoder::DeviceKind::cpu;
    const std::string rest = name.substr(std::min<std::size_t>(4, name.size()));
    if (name == "cpu" || name == "cuda") {
        return;
    }
    const bool numbered = setup.device == decoder::DeviceKind::cuda && rest.starts_with(':');
    const std::optional<int> index = numbered ? parse_number<int>(std::string_view(rest).substr(1)) : std::nullopt;
    setup.device_index = index.value_or(0);
    if (!index) {
        root.problem("device",
                     fmt::format(R"(must be "cpu", "cuda" or "cuda:" and a number, not "{}")", json::shown_key(name)));
    }
}

kernels::ElementType read_elements(json::Reader& root, std::string_view key) {
    const bool bf16 = root.has(key) && root.choice(key, {"fp32", "bf16"}) == "bf16";
    return bf16 ? kernels::ElementType::bf16 : kernels::ElementType::fp32;
}

void read_run(json::Reader& root, const DecodeFlags& flags, DecodeInput& input) {
    decoder::DecodeSetup& setup = input.setup;
    const auto count = [&](const char* key, int fallback, std::int64_t low, std::int64_t high) {
        return static_cast<int>(root.count_or(key, fallback, low, high));
    };
    setup.new_tokens = count("tokens", setup.new_tokens, 1, most_tokens);
    setup.batch = count("batch", 1, 1, 4096);
    setup.prompt_tokens = count("prompt_tokens", setup.prompt_tokens, 1, most_tokens);
    setup.context_tokens = count("context_tokens", 0, 0, most_tokens);
    setup.elements = read_elements(root, "precision");
    setup.state_elements = read_elements(root, "state");
    input.device_label = flag_or_key(root, flags.device, "device", "cpu");
    read_device(root, input.device_label, setup);
    const std::string graphs = root.has("graphs") ? root.choice("graphs", {"none", "phases", "round"}) : "phases";
    setup.graphs = graphs == "none"    ? decoder::GraphUse::none
                   : graphs == "round" ? decoder::GraphUse::round
                                       : decoder::GraphUse::phases;

    setup.seed = static_cast<std::uint64_t>(root.count_or("seed", 1, 0, std::numeric_limits<std::int64_t>::max()));
    input.repeat = count("repeat", 1, 1, 1000);
    if (!flags.seed.empty()) {
        setup.seed = static_cast<std::uint64_t>(whole_number("--seed", flags.seed, 0, std::numeric_limits<long long>::max()));
    }
    if (!flags.repeat.empty()) {
        input.repeat = static_cast<int>(whole_number("--repeat", flags.repeat, 1, 1000));
    }
    input.compare_plain = root.flag_or("plain", true);
}

}  // namespace

DecodeInput read_decode(json::Document& document, Descriptions& descriptions, const DecodeFlags& flags) {
    json::Reader root = document.root();
    DecodeInput input;
    decoder::DecodeSetup& setup = input.setup;
    input.title = root.text_or("title", "");
    input.source = root.text_or("source", "");
    static_cast<void>(root.has("target"));
    if (!root.raw().contains("target")) {
        root.problem("target", "is missing");
    } else {
        setup.target = read_model(root, "target", descriptions);
    }
    input.drafter_label = "none";
    if (root.has("drafter")) {
        setup.drafter = read_decode_drafter(root.object("drafter"), descriptions, input.drafter_label);
    }
    if (root.has("acceptance")) {
        setup.given_acceptance = read_decode_acceptance(root.object("acceptance"));
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

}  // namespace treeline
