// Kinds of drafters and their keys:
//   {"kind": "model", "model": name or path, "precision"?}           a smaller model of its own
//   {"kind": "sparse-self", "window": 512, "sink"?: 4}               the target with part of its cache (MagicDec);
//                           or "share": 0.125 of the context
//   {"kind": "spire", "layers": 2, window or share as above, "feedback_memory"?: true}
//   {"kind": "one-layer", "draft_vocabulary"?: 32000, "input_features"?: 2}   also "eagle" (EAGLE-1 and 2) and "mtp"
//   {"kind": "eagle3", "draft_vocabulary"?: 32000, "input_features"?: 3}      defaults of published EAGLE-3 heads
//   {"kind": "p-eagle", "layers"?: 4, …}                             EAGLE-3 in one pass for all tokens
//   {"kind": "pard", "model": …}                                     a model that fills in masks in one pass
//   {"kind": "dflash", "layers"?: 5, "block"?: 16, "input_features"?: 5, "feed_forward"?}   also "dspark", block 7
//   {"kind": "medusa", "heads"?: 4, "layers_per_head"?: 1}
//   {"kind": "ngram", "lookup_us_per_sequence"?: 2}
// Each has "acceptance", and may have "name".
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/setup_reader.h"
#include "text/number_text.h"

namespace treeline {
namespace {

constexpr double most_tokens = longest_context;

Drafter read_model_drafter(json::Reader& at, Descriptions& descriptions, bool parallel, std::string& label) {
    IndependentDrafter drafter;
    drafter.parallel = parallel;
    if (const Model* model = descriptions.model(at, "model")) {
        drafter.model = *model;
    }
    drafter.precision = read_precision(at, "precision", drafter.model.precision);
    label = drafter.model.name;
    return drafter;
}

/// "window" in tokens or "share" of the context, and "sink".
ContextReach read_reach(json::Reader& at, std::string& label) {
    ContextReach reach;
    reach.sink = at.number_or("sink", 0.0, 0.0, most_tokens);
    if (at.has("window") == at.has("share")) {
        at.problem({}, at.has("window")
                           ? "gives both window and share, but exactly one is needed"
                           : "needs \"window\" (tokens) or \"share\" (of the context), the part of the cache it reads");
        return reach;
    }
    if (at.has("window")) {
        reach.window = at.number("window", 1.0, most_tokens);
        label += fmt::format(" {}", exact_text(reach.window));
    } else {
        reach.scale = at.number("share", 1e-6, 1.0);
        label += fmt::format(" {} of context", short_text(reach.scale));
    }
    if (reach.sink > 0.0) {
        label += fmt::format(" + {}", exact_text(reach.sink));
    }
    return reach;
}

Drafter read_spire(json::Reader& at, std::string& label) {
    SpireDrafter drafter;
    drafter.layers = at.count("layers", 1, 100'000);
    label = fmt::format("spire {} layers", drafter.layers);
    drafter.reach = read_reach(at, label);
    drafter.feedback_memory = at.flag_or("feedback_memory", true);
    return drafter;
}

/// Defaults of a kind of one-layer drafter.
OneLayerDrafter one_layer_of(const std::string& kind) {
    if (kind == "eagle3") {
        return OneLayerDrafter::published_eagle3();
    }
    if (kind == "p-eagle") {
        return OneLayerDrafter::published_p_eagle();
    }
    OneLayerDrafter drafter;
    drafter.kind = kind == "eagle" ? OneLayerKind::eagle : kind == "mtp" ? OneLayerKind::mtp : OneLayerKind::generic;
    return drafter;
}

Drafter read_one_layer(json::Reader& at, const std::string& kind) {
    OneLayerDrafter drafter = one_layer_of(kind);
    drafter.draft_vocabulary = at.count_or("draft_vocabulary", drafter.draft_vocabulary, 1, 10'000'000);
    drafter.input_features = at.count_or("input_features", drafter.input_features, 1, 16);
    drafter.feed_forward = at.count_or("feed_forward", 0, 1, 10'000'000);
    if (drafter.parallel) {
        drafter.layers = at.count_or("layers", drafter.layers, 1, 64);
    }
    return drafter;
}

Drafter read_parallel(json::Reader& at, ParallelKind kind) {
    ParallelDrafter drafter = kind == ParallelKind::dflash ? ParallelDrafter{} : ParallelDrafter::published_dspark();
    drafter.layers = at.count_or("layers", drafter.layers, 1, 1000);
    drafter.block = at.count_or("block", drafter.block, 2, most_draft_tokens);
    drafter.input_features = at.count_or("input_features", drafter.input_features, 1, 64);
    drafter.feed_forward = at.count_or("feed_forward", 0, 1, 10'000'000);
    return drafter;
}

Drafter read_medusa(json::Reader& at) {
    MedusaDrafter drafter;
    drafter.heads = at.count_or("heads", drafter.heads, 1, 64);
    drafter.layers_per_head = at.count_or("layers_per_head", drafter.layers_per_head, 1, 64);
    return drafter;
}

Drafter read_ngram(json::Reader& at) {
    NgramDrafter drafter;
    const double microseconds = at.number_or("lookup_us_per_sequence", 1e6 * drafter.lookup_per_sequence.value(), 0.0, 1e9);
    drafter.lookup_per_sequence = Seconds(1e-6 * microseconds);
    return drafter;
}

Drafter read_kind(json::Reader& at, const std::string& kind, Descriptions& descriptions, std::string& label) {
    if (kind == "model" || kind == "pard") {
        return read_model_drafter(at, descriptions, kind == "pard", label);
    }
    if (kind == "dflash" || kind == "dspark") {
        return read_parallel(at, kind == "dflash" ? ParallelKind::dflash : ParallelKind::dspark);
    }
    if (kind == "sparse-self") {
        return SparseSelfDrafter{read_reach(at, label)};
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
    static const std::vector<std::string> kinds = {"model", "sparse-self", "spire",  "one-layer", "eagle",  "eagle3", "p-eagle",
                                                   "mtp",   "dflash",      "dspark", "pard",      "medusa", "ngram"};
    return kinds;
}

DrafterChoice read_drafter(json::Reader at, Descriptions& descriptions) {
    DrafterChoice choice;
    const bool has_kind = at.has("kind");
    const std::string kind = at.choice("kind", drafter_kinds());
    choice.label = kind;
    if (has_kind) {
        choice.drafter = read_kind(at, kind, descriptions, choice.label);
    }
    choice.label = at.text_or("name", choice.label);
    AcceptanceChoice acceptance = read_acceptance(at.object("acceptance"), descriptions);
    choice.acceptance = acceptance.acceptance;
    choice.acceptance_text = std::move(acceptance.text);
    choice.acceptance_source = std::move(acceptance.source);
    if (has_kind) {
        at.finish();
    }
    return choice;
}

}  // namespace treeline
