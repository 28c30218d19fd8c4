// A drafter of a kind of drafter_keys (requests/keys/setup_keys.h), each with the keys that it has.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/keys/setup_keys.h"
#include "requests/setup_reader.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

sim::Drafter read_model_drafter(json::Reader& at, Descriptions& descriptions, bool parallel, std::string& label) {
    sim::IndependentDrafter drafter;
    drafter.parallel = parallel;
    if (const sim::Model* model = descriptions.model(at, drafter_keys::model)) {
        drafter.model = *model;
    }
    drafter.precision = read_precision(at, drafter_keys::precision, drafter.model.precision);
    label = drafter.model.name;
    return drafter;
}

/// "window" in tokens or "share" of the context, and "sink".
sim::ContextReach read_reach(json::Reader& at, std::string& label) {
    sim::ContextReach reach;
    reach.sink = read(at, drafter_keys::sink);
    if (at.has(drafter_keys::window) == at.has(drafter_keys::share)) {
        at.problem({}, at.has(drafter_keys::window)
                           ? "gives both window and share, but exactly one is needed"
                           : "needs \"window\" (tokens) or \"share\" (of the context), the part of the cache it reads");
        return reach;
    }
    if (at.has(drafter_keys::window)) {
        reach.window = read(at, drafter_keys::window);
        label += fmt::format(" {}", text::exact_text(reach.window));
    } else {
        reach.scale = read(at, drafter_keys::share);
        label += fmt::format(" {} of context", text::short_text(reach.scale));
    }
    if (reach.sink > 0.0) {
        label += fmt::format(" + {}", text::exact_text(reach.sink));
    }
    return reach;
}

sim::Drafter read_spire(json::Reader& at, std::string& label) {
    sim::SpireDrafter drafter;
    drafter.layers = read(at, drafter_keys::layers);
    label = fmt::format("spire {} layers", drafter.layers);
    drafter.reach = read_reach(at, label);
    drafter.feedback_memory = read(at, drafter_keys::feedback_memory);
    return drafter;
}

/// Defaults of a kind of one-layer drafter.
sim::OneLayerDrafter one_layer_of(const std::string& kind) {
    if (kind == "eagle3") {
        return sim::OneLayerDrafter::published_eagle3();
    }
    if (kind == "p-eagle") {
        return sim::OneLayerDrafter::published_p_eagle();
    }
    sim::OneLayerDrafter drafter;
    drafter.kind = kind == "eagle" ? sim::OneLayerKind::eagle
                   : kind == "mtp" ? sim::OneLayerKind::mtp
                                   : sim::OneLayerKind::generic;
    return drafter;
}

sim::Drafter read_one_layer(json::Reader& at, const std::string& kind) {
    sim::OneLayerDrafter drafter = one_layer_of(kind);
    drafter.draft_vocabulary = read_or<sim::Count>(at, drafter_keys::draft_vocabulary, drafter.draft_vocabulary);
    drafter.input_features = read_or<sim::Count>(at, drafter_keys::input_features, drafter.input_features);
    drafter.feed_forward = read_or<sim::Count>(at, drafter_keys::feed_forward, 0);
    if (drafter.parallel) {
        drafter.layers = read_or<sim::Count>(at, drafter_keys::layers, drafter.layers);
    }
    return drafter;
}

sim::Drafter read_parallel(json::Reader& at, sim::ParallelKind kind) {
    sim::ParallelDrafter drafter =
        kind == sim::ParallelKind::dflash ? sim::ParallelDrafter{} : sim::ParallelDrafter::published_dspark();
    drafter.layers = read_or<sim::Count>(at, drafter_keys::layers, drafter.layers);
    drafter.block = read_or<sim::Count>(at, drafter_keys::block, drafter.block);
    drafter.input_features = read_or<sim::Count>(at, drafter_keys::input_features, drafter.input_features);
    drafter.feed_forward = read_or<sim::Count>(at, drafter_keys::feed_forward, 0);
    return drafter;
}

sim::Drafter read_medusa(json::Reader& at) {
    sim::MedusaDrafter drafter;
    drafter.heads = read(at, drafter_keys::heads);
    drafter.layers_per_head = read(at, drafter_keys::layers_per_head);
    return drafter;
}

sim::Drafter read_ngram(json::Reader& at) {
    sim::NgramDrafter drafter;
    const double microseconds = read_or(at, drafter_keys::lookup_us_per_sequence, 1e6 * drafter.lookup_per_sequence.value());
    drafter.lookup_per_sequence = Seconds(1e-6 * microseconds);
    return drafter;
}

sim::Drafter read_kind(json::Reader& at, const std::string& kind, Descriptions& descriptions, std::string& label) {
    if (kind == "model" || kind == "pard") {
        return read_model_drafter(at, descriptions, kind == "pard", label);
    }
    if (kind == "dflash" || kind == "dspark") {
        return read_parallel(at, kind == "dflash" ? sim::ParallelKind::dflash : sim::ParallelKind::dspark);
    }
    if (kind == "sparse-self") {
        return sim::SparseSelfDrafter{read_reach(at, label)};
    }
    if (kind == "spire") {
        return read_spire(at, label);
    }
    if (kind == "medusa") {
        return read_medusa(at);
    }
    return kind == "ngram" ? read_ngram(at) : read_one_layer(at, kind);
}

}  // namespace

const std::vector<std::string>& drafter_kinds() {
    static const std::vector<std::string> kinds(drafter_keys::kinds.begin(), drafter_keys::kinds.end());
    return kinds;
}

sweeps::DrafterChoice read_drafter(json::Reader at, Descriptions& descriptions) {
    sweeps::DrafterChoice choice;
    const bool has_kind = at.has(drafter_keys::kind);
    const std::string kind = read(at, drafter_keys::kind);
    choice.label = kind;
    if (has_kind) {
        choice.drafter = read_kind(at, kind, descriptions, choice.label);
    }
    choice.label = read_or(at, drafter_keys::name, choice.label);
    AcceptanceChoice acceptance = read_acceptance(at.object(drafter_keys::acceptance), descriptions);
    choice.acceptance = acceptance.acceptance;
    choice.acceptance_text = std::move(acceptance.text);
    choice.acceptance_source = std::move(acceptance.source);
    if (has_kind) {
        at.finish();
    }
    return choice;
}

}  // namespace treeline::requests
