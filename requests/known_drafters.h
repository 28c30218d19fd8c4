// The drafters of the catalogue that may draft for a target, for inputs that name none.
#pragma once

#include <string>
#include <vector>

#include "requests/descriptions.h"
#include "requests/published_acceptance.h"
#include "requests/traffic_kind.h"
#include "sweeps/choices.h"

namespace treeline::requests {

/// With which model a drafter's acceptance was measured.
enum class MeasuredWith {
    target,  ///< the one that is served
    family,  ///< one with the same vocabulary
    others   ///< several, none of which is of that family
};

struct KnownDrafter {
    PublishedDrafter drafter;
    MeasuredWith measured_with = MeasuredWith::target;
};

/// All that were published for this target, those published for models of its family, the checkpoint's own modules for
/// multi-token prediction, and n-gram look-up, which drafts for any model: where one of the last two was measured with none of
/// these, as the mean of all measurements. In this order, each by name.
std::vector<KnownDrafter> known_drafters(const sim::Model& target, Descriptions& descriptions);
/// Those of one kind; where none of target and family is, the mean of what was published of heads or look-ups like it. Empty
/// if nothing was, and for MTP, which a checkpoint has or has not.
std::vector<KnownDrafter> known_drafters_of_kind(const std::string& kind, const sim::Model& target, Descriptions& descriptions);

/// Whether it is a model that was measured with another one of the target's vocabulary: it drafts for this one just as well.
bool is_model_of_family(const PublishedDrafter& drafter, const sim::Model& target, Descriptions& descriptions);

/// "measured with qwen3-14b"; empty where that is the target itself.
std::string measured_with_text(const KnownDrafter& known);

struct KnownChoice {
    sweeps::DrafterChoice choice;
    MeasuredWith measured_with = MeasuredWith::target;
};

/// What each of them accepted, as the sum of what it adds and what its kind of requests does.
sim::DrafterEffects effects_of(const std::vector<PublishedDrafter>& all);

/// Moves what was measured of a head to what it probably accepts, so that the best of several is not the luckiest: from its
/// kinds of requests to the mean one and towards the mean of its kind. One that was measured with the target (`of_target`) is
/// only ever lowered, and not where the requests are those that are asked for. Drafters for models of one family are no more
/// alike than others of their kind, so that what another model's accepted counts for nothing but the kind.
void take_as_probable(const PublishedDrafter& drafter, bool of_target, sweeps::DrafterChoice& choice,
                      Descriptions& descriptions);
/// No drafts beyond those that were measured.
void limit_to_measured(sim::DraftAcceptance& acceptance);

/// The same as candidates, as they accept in this traffic (take_as_probable()). Each drafts as far as it was measured, unless
/// the input states its lengths (`lengths_stated`): rates beyond are extrapolated then. Of a kind that was published for the
/// target itself, those of other models are left out; heads of other
/// models stand for one that somebody would have to train (DrafterChoice::untrained).
std::vector<KnownChoice> choices_of(const std::vector<KnownDrafter>& known, const sim::TrafficKind& traffic,
                                    bool lengths_stated, Descriptions& descriptions);
/// Why a kind that nothing is known of needs its acceptance stated, and of which drafters it is known, as the end of a sentence
/// that begins with the kind's key.
std::string nothing_known_text(const std::string& kind, const sim::Model& target, Descriptions& descriptions);

/// Kinds of requests on which it was measured, each once.
std::vector<std::string> categories_of(const PublishedDrafter& drafter);

}  // namespace treeline::requests
