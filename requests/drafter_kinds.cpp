// A drafter of a kind of drafter_keys (requests/keys/setup_keys.h), each with the keys that it has.
#include "requests/drafter_kinds.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/keys/setup_keys.h"
#include "requests/setup_reader.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

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

sim::Drafter read_model_drafter(json::Reader& at, Descriptions& descriptions, bool parallel, std::string& label) {
    sim::IndependentDrafter drafter;
    drafter.parallel = parallel;
    if (const sim::Model* model = descriptions.drafter_model(at, drafter_keys::model)) {
        drafter.model = *model;
    }
    drafter.precision = read_precision(at, drafter_keys::precision, drafter.model.precision);
    label = drafter.model.name;
    if (!parallel && read(at, drafter_keys::translated)) {
        drafter.translated = true;
        label += ", translated";
    }
    if (at.has(drafter_keys::window) || at.has(drafter_keys::share)) {
        drafter.reach = read_reach(at, label);
    }
    return drafter;
}

sim::Drafter read_spire(json::Reader& at, std::string& label) {
    sim::SpireDrafter drafter;
    drafter.layers = read(at, drafter_keys::layers);
    label = fmt::format("spire {} layers", drafter.layers);
    drafter.reach = read_reach(at, label);
    drafter.feedback_memory = read(at, drafter_keys::feedback_memory);
    return drafter;
}

/// The target's first layers, some of its layers, or a copy of it in other formats.
sim::Drafter read_self(json::Reader& at, const std::string& kind, std::string& label) {
    sim::SelfDrafter drafter;
    drafter.shares_cache = read(at, drafter_keys::shares_cache);
    if (kind == "early-exit") {
        const auto count = read<std::size_t>(at, drafter_keys::layers);
        for (std::size_t layer = 0; layer < count; ++layer) {
            drafter.layers.push_back(layer);
        }
        label = fmt::format("early exit after {} layers", drafter.layers.size());
    } else if (kind == "layer-skip") {
        for (const int layer : read(at, drafter_keys::kept_layers)) {
            drafter.layers.push_back(static_cast<std::size_t>(layer));
        }
        label = fmt::format("{} of its layers", drafter.layers.size());
    } else {
        if (!at.has(drafter_keys::precision)) {
            at.problem(drafter_keys::precision, "is missing: the formats that the target drafts in, such as \"int4\"");
        }
        drafter.copy = read_precision(at, drafter_keys::precision, sim::uniform_precision(sim::NumberFormat::bf16));
    }
    if (at.has(drafter_keys::window) || at.has(drafter_keys::share)) {
        drafter.reach = read_reach(at, label);
    }
    return drafter;
}

/// Formats of a head of its own; nothing without the key.
std::optional<sim::Precision> read_own_precision(json::Reader& at) {
    return at.has(drafter_keys::precision)
               ? std::optional(read_precision(at, drafter_keys::precision, sim::uniform_precision(sim::NumberFormat::bf16)))
               : std::nullopt;
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
    drafter.kind = kind == "eagle" || kind == "hass" ? sim::OneLayerKind::eagle
                   : kind == "mtp"                   ? sim::OneLayerKind::mtp
                                                     : sim::OneLayerKind::generic;
    return drafter;
}

sim::Drafter read_one_layer(json::Reader& at, const std::string& kind) {
    sim::OneLayerDrafter drafter = one_layer_of(kind);
    drafter.draft_vocabulary = read_or<sim::Count>(at, drafter_keys::draft_vocabulary, drafter.draft_vocabulary);
    drafter.input_features = read_or<sim::Count>(at, drafter_keys::input_features, drafter.input_features);
    drafter.feed_forward = read_or<sim::Count>(at, drafter_keys::feed_forward, 0);
    drafter.layers = read_or<sim::Count>(at, drafter_keys::layers, drafter.layers);
    drafter.width = read_or<sim::Count>(at, drafter_keys::width, 0);
    drafter.reads_target_cache = read(at, drafter_keys::reads_target_cache);
    drafter.precision = read_own_precision(at);
    return drafter;
}

/// DFlash2 is DFlash with blocks of 8, a convolution over neighbouring rows and a low-rank selector among the best candidates
/// of each row (vLLM pull request 52816, llama.cpp 27342), both of which cost next to nothing beside its layers.
sim::ParallelDrafter parallel_of(const std::string& kind) {
    sim::ParallelDrafter drafter = kind == "dspark" ? sim::ParallelDrafter::published_dspark() : sim::ParallelDrafter{};
    drafter.block = kind == "dflash2" ? 8 : drafter.block;
    return drafter;
}

sim::Drafter read_parallel(json::Reader& at, const std::string& kind) {
    sim::ParallelDrafter drafter = parallel_of(kind);
    drafter.layers = read_or<sim::Count>(at, drafter_keys::layers, drafter.layers);
    drafter.block = read_or<sim::Count>(at, drafter_keys::block, drafter.block);
    drafter.input_features = read_or<sim::Count>(at, drafter_keys::input_features, drafter.input_features);
    drafter.feed_forward = read_or<sim::Count>(at, drafter_keys::feed_forward, 0);
    drafter.draft_vocabulary = read_or<sim::Count>(at, drafter_keys::draft_vocabulary, 0);
    drafter.markov_rank = read_or<sim::Count>(at, drafter_keys::markov_rank, drafter.markov_rank);
    drafter.gru_width = read_or<sim::Count>(at, drafter_keys::gru_width, drafter.gru_width);
    drafter.precision = read_own_precision(at);
    return drafter;
}

sim::Drafter read_heads(json::Reader& at, sim::HeadsKind kind) {
    sim::MedusaDrafter drafter;
    drafter.kind = kind;
    drafter.heads = read(at, drafter_keys::heads);
    drafter.layers_per_head = read(at, drafter_keys::layers_per_head);
    drafter.tied = read(at, drafter_keys::tied);
    if (kind == sim::HeadsKind::mlp) {
        drafter.width = read_or<sim::Count>(at, drafter_keys::width, 0);
    }
    return drafter;
}

sim::NgramDrafter read_lookup(json::Reader& at, sim::LookupKind kind) {
    sim::NgramDrafter drafter;
    drafter.kind = kind;
    drafter.hit_rate = read(at, drafter_keys::hit_rate);
    drafter.mean_draft = read_or(at, drafter_keys::mean_draft, 0.0);
    const double microseconds = read_or(at, drafter_keys::lookup_us_per_sequence, 1e6 * drafter.lookup_per_sequence.value());
    drafter.lookup_per_sequence = Seconds(1e-6 * microseconds);
    return drafter;
}

/// A drafter within a drafter; a problem where it is of a kind that `Part` does not hold.
template <class Part>
Part read_part(json::Reader& at, std::string_view key, Descriptions& descriptions, const char* expected) {
    json::Reader part = at.object(key);
    const std::string kind = read(part, drafter_keys::kind);
    std::string label;
    const sim::Drafter drafter =
        part.has(drafter_keys::kind) ? read_drafter_kind(part, kind, descriptions, label) : sim::NoDrafter{};
    static_cast<void>(part.has(drafter_keys::acceptance));  // read with the whole drafter's
    part.finish();
    return std::visit(
        [&](const auto& found) -> Part {
            if constexpr (std::is_constructible_v<Part, decltype(found)>) {
                return found;
            } else {
                at.problem(key, expected);
                return Part{};
            }
        },
        drafter);
}

sim::Drafter read_lookup_first(json::Reader& at, Descriptions& descriptions, std::string& label) {
    sim::LookupFirstDrafter drafter;
    drafter.lookup = read_part<sim::NgramDrafter>(at, drafter_keys::lookup, descriptions,
                                                  "must be a look-up: ngram, suffix or token-recycling");
    drafter.otherwise = read_part<sim::ModelDrafter>(at, drafter_keys::otherwise, descriptions,
                                                     "must be a drafter with a model or heads, not a look-up or a cascade");
    drafter.drafts_anyway = read(at, drafter_keys::drafts_anyway);
    label = "lookup-first";
    return drafter;
}

sim::Drafter read_cascade(json::Reader& at, Descriptions& descriptions) {
    sim::CascadeDrafter drafter;
    drafter.middle = read_part<decltype(drafter.middle)>(at, drafter_keys::middle, descriptions,
                                                         "must be a model, or the target drafting for itself");
    drafter.inner = read_part<decltype(drafter.inner)>(at, drafter_keys::inner, descriptions, "must be a model or a look-up");
    drafter.inner_tokens = read<int>(at, drafter_keys::inner_draft_tokens);
    drafter.inner_length = read(at, drafter_keys::inner_accept_length);
    return drafter;
}

}  // namespace

sim::Drafter read_drafter_kind(json::Reader& at, const std::string& kind, Descriptions& descriptions, std::string& label) {
    if (kind == "model" || kind == "pard") {
        return read_model_drafter(at, descriptions, kind == "pard", label);
    }
    if (kind == "dflash" || kind == "dflash2" || kind == "dspark") {
        return read_parallel(at, kind);
    }
    if (kind == "sparse-self") {
        return sim::SelfDrafter{read_reach(at, label), {}, {}, false};
    }
    if (kind == "early-exit" || kind == "layer-skip" || kind == "quantised-self") {
        return read_self(at, kind, label);
    }
    if (kind == "spire") {
        return read_spire(at, label);
    }
    if (kind == "medusa" || kind == "hydra" || kind == "mlp-speculator") {
        return read_heads(at, kind == "medusa"  ? sim::HeadsKind::medusa
                              : kind == "hydra" ? sim::HeadsKind::hydra
                                                : sim::HeadsKind::mlp);
    }
    if (kind == "ngram" || kind == "suffix" || kind == "token-recycling") {
        return read_lookup(at, kind == "ngram"    ? sim::LookupKind::ngram
                               : kind == "suffix" ? sim::LookupKind::suffix
                                                  : sim::LookupKind::recycling);
    }
    if (kind == "lookup-first") {
        return read_lookup_first(at, descriptions, label);
    }
    return kind == "cascade" ? read_cascade(at, descriptions) : read_one_layer(at, kind);
}

}  // namespace treeline::requests
