// What drafters are to engines: each has a word for those that it runs (EngineDrafter).
#pragma once

#include <variant>

#include "sim/drafters/drafter.h"
#include "sim/enum_names.h"

namespace treeline::engines {

/// Drafters as engines tell them apart.
enum class DrafterKind {
    draft_model,
    pard,
    eagle,
    eagle3,
    p_eagle,
    mtp,
    mtp_on_target_cache,
    dflash,
    dspark,
    medusa,
    mlp_speculator,
    ngram,
    suffix,
    lookup_then_eagle3,
    other
};
constexpr auto names_in(DrafterKind) {
    using enum DrafterKind;
    return enum_names<DrafterKind>({{draft_model, "a draft model"},
                                    {pard, "PARD"},
                                    {eagle, "EAGLE"},
                                    {eagle3, "EAGLE-3"},
                                    {p_eagle, "P-EAGLE"},
                                    {mtp, "MTP"},
                                    {mtp_on_target_cache, "MTP on the target's cache"},
                                    {dflash, "DFlash"},
                                    {dspark, "DSpark"},
                                    {medusa, "Medusa"},
                                    {mlp_speculator, "an MLP speculator"},
                                    {ngram, "n-gram look-up"},
                                    {suffix, "suffix decoding"},
                                    {lookup_then_eagle3, "a look-up before EAGLE-3"},
                                    {other, "this drafter"}});
}

/// The kind of a drafter, as engines see it. A one-layer drafter of generic kind counts as EAGLE-3 if it has its own LM head or
/// three features, else as EAGLE.
inline DrafterKind kind_of(const sim::Drafter& drafter) {
    struct Visitor {
        DrafterKind operator()(const sim::IndependentDrafter& d) const {
            return d.parallel ? DrafterKind::pard : DrafterKind::draft_model;
        }
        DrafterKind operator()(const sim::ParallelDrafter& d) const {
            return d.kind == sim::ParallelKind::dflash ? DrafterKind::dflash : DrafterKind::dspark;
        }
        DrafterKind operator()(const sim::OneLayerDrafter& d) const {
            switch (d.kind) {
                case sim::OneLayerKind::eagle:
                    return DrafterKind::eagle;
                case sim::OneLayerKind::eagle3:
                    return d.parallel ? DrafterKind::p_eagle : DrafterKind::eagle3;
                case sim::OneLayerKind::mtp:
                    return d.reads_target_cache ? DrafterKind::mtp_on_target_cache : DrafterKind::mtp;
                case sim::OneLayerKind::generic:
                    break;
            }
            return d.draft_vocabulary > 0 || d.input_features >= 3 ? DrafterKind::eagle3 : DrafterKind::eagle;
        }
        DrafterKind operator()(const sim::MedusaDrafter& d) const {
            return d.kind == sim::HeadsKind::medusa ? DrafterKind::medusa
                   : d.kind == sim::HeadsKind::mlp  ? DrafterKind::mlp_speculator
                                                    : DrafterKind::other;
        }
        DrafterKind operator()(const sim::NgramDrafter& d) const {
            return d.kind == sim::LookupKind::ngram    ? DrafterKind::ngram
                   : d.kind == sim::LookupKind::suffix ? DrafterKind::suffix
                                                       : DrafterKind::other;
        }
        DrafterKind operator()(const sim::LookupFirstDrafter& d) const {
            const auto* otherwise = std::get_if<sim::OneLayerDrafter>(&d.otherwise);
            return otherwise != nullptr && otherwise->kind == sim::OneLayerKind::eagle3 ? DrafterKind::lookup_then_eagle3
                                                                                        : DrafterKind::other;
        }
        DrafterKind operator()(const sim::CascadeDrafter&) const { return DrafterKind::other; }
        DrafterKind operator()(const sim::NoDrafter&) const { return DrafterKind::other; }
        DrafterKind operator()(const sim::SelfDrafter&) const { return DrafterKind::other; }
        DrafterKind operator()(const sim::SpireDrafter&) const { return DrafterKind::other; }
    };
    return std::visit(Visitor{}, drafter);
}

/// Whether kind_of() had to guess.
inline bool kind_is_assumed(const sim::Drafter& drafter) {
    const auto* one_layer = std::get_if<sim::OneLayerDrafter>(&drafter);
    return one_layer != nullptr && one_layer->kind == sim::OneLayerKind::generic;
}

}  // namespace treeline::engines
