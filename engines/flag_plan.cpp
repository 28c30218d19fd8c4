#include "engines/flag_plan.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "engines/capabilities.h"
#include "engines/definition.h"
#include "engines/memory_share.h"
#include "engines/scale_blocks.h"
#include "sim/placement.h"
#include "text/version.h"

namespace treeline::engines {
namespace {

void remark(FlagPlan& plan, const std::string& text) {
    if (!text.empty()) {
        plan.remarks.push_back(text);
    }
}

/// Sets lengths by batch if the engine takes them, and adds remarks about batch sizes. False if no chain pays at any batch.
bool plan_lengths(FlagPlan& plan, const sweeps::Recommendation& recommendation) {
    const std::vector<PlannedLength> lengths = lengths_of(recommendation.schedule);
    const bool never_pays = !lengths.empty() && std::all_of(lengths.begin(), lengths.end(), [](const PlannedLength& length) {
        return length.draft_tokens == 0;
    });
    if (never_pays) {
        return false;
    }
    if (lengths.size() > 1 && plan.drafter->scheduled && sweeps::schedule_pays(recommendation)) {
        plan.schedule = lengths;
    } else if (lengths.size() > 1 && plan.drafter->scheduled) {
        const std::string gain = fmt::format("{:.2f}x", recommendation.schedule.gain);
        if (gain != fmt::format("{:.2f}x", recommendation.candidates.front().gain)) {
            remark(plan, fmt::format("one length for every batch size: a schedule would gain {} over this load", gain));
        }
    } else if (lengths.size() > 1) {
        remark(plan, lengths.back().draft_tokens == 0
                         ? fmt::format("one length for every batch size; above batch {} it loses", lengths.back().from - 1)
                         : "one length for every batch size");
    } else if (lengths.size() == 1) {
        plan.draft_tokens = lengths.front().draft_tokens;
        plan.shape = sim::ChainShape{plan.draft_tokens};
    }
    return true;
}

/// Says when a length lies beyond the positions at which acceptance was measured.
void say_what_is_extrapolated(FlagPlan& plan, const sweeps::Candidate& candidate, const sweeps::Schedule& schedule) {
    int shortest = 0;
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        const bool extrapolated = !plan.schedule.empty() && entry.basis == sim::AcceptanceBasis::extrapolated;
        if (extrapolated && (shortest == 0 || entry.draft_tokens < shortest)) {
            shortest = entry.draft_tokens;
        }
    }
    if (plan.schedule.empty() && candidate.basis == sim::AcceptanceBasis::extrapolated) {
        shortest = plan.draft_tokens;
    }
    if (shortest > 0) {
        remark(plan, fmt::format("acceptance of {} drafts was not measured but extrapolated", shortest));
    }
}

}  // namespace

int FlagPlan::longest() const {
    int most = schedule.empty() ? draft_tokens : 0;
    for (const PlannedLength& length : schedule) {
        most = std::max(most, length.draft_tokens);
    }
    return most;
}

std::vector<PlannedLength> lengths_of(const sweeps::Schedule& schedule) {
    std::vector<PlannedLength> lengths;
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        if (!lengths.empty()) {
            lengths.back().to = entry.batch_from - 1;
        }
        if (!lengths.empty() && lengths.back().draft_tokens == entry.draft_tokens) {
            lengths.back().to = entry.batch_to;
        } else {
            lengths.push_back({lengths.empty() ? 1 : entry.batch_from, entry.batch_to, entry.draft_tokens});
        }
    }
    return lengths;
}

namespace {

/// What the drafter and its schedule need, beside names and devices. False if no chain pays at any batch.
bool plan_drafting(FlagPlan& plan, const sweeps::Recommendation& recommendation, const sweeps::Candidate& best) {
    const sim::Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(best.speculation)];
    plan.shape = speculation.shape;
    plan.draft_tokens = best.draft_tokens;
    if (sim::is_chain(speculation)) {
        plan.shape = sim::ChainShape{best.draft_tokens};
        if (!plan_lengths(plan, recommendation)) {
            return false;
        }
        if (plan.longest() != best.draft_tokens) {
            remark(plan, fmt::format("{} is the longest draft of the schedule; of one length for all, {} is best",
                                     plan.longest(), best.draft_tokens));
        }
    } else {
        remark(plan, "one tree for every batch size");
    }
    say_what_is_extrapolated(plan, best, recommendation.schedule);
    return true;
}

/// Whether what is known of the drafter was measured with other models alone.
bool is_of_others(const sim::DraftAcceptance& acceptance) {
    return acceptance.origin == sim::AcceptanceOrigin::other_target ||
           acceptance.origin == sim::AcceptanceOrigin::kind_of_drafter;
}

/// An engine loads no model whose architecture it was published before, nor every other one.
void remark_on_loading(FlagPlan& plan) {
    if (const std::string problem = load_problem(*plan.engine, plan.target); !problem.empty()) {
        remark(plan, fmt::format("{} will not load {}: {}", plan.engine->label(), plan.target.name, problem));
        return;
    }
    const std::optional<Release> next = plan.engine->followed_by();
    const std::string& since = plan.target.architecture_since;
    if (next && !since.empty() && next->month <= since) {
        remark(plan, fmt::format("{} {} will not load {}: {} followed it by {}, and models of this architecture were first "
                                 "published in {}",
                                 plan.engine->title, plan.engine->asked.empty() ? plan.engine->version : plan.engine->asked,
                                 plan.target.name, next->version, text::month_text(next->month), text::month_text(since)));
    }
}

/// What of the deployment no flag of this one command says.
void remark_on_deployment(FlagPlan& plan) {
    const sim::Stack& stack = plan.platform.stack;
    if (older_than_known(plan.engine->word + "@" + plan.engine->asked)) {
        remark(plan, fmt::format("flags of versions before {0} are not known; these are those of {0}", plan.engine->version));
    }
    if (stack.serving.prefill == sim::PrefillPolicy::disaggregated) {
        remark(plan, "the command is that of the server that decodes; prompts are read by servers of their own");
    }
    if (!dialect_of(*plan.engine).places_weights && sim::layers_on_host(plan.target) > 0) {
        remark(plan, "weights in the host's memory are priced as --placement says, which it has no flag for");
    }
    const double of_a_host = plan.platform.device.devices_per_host, hosts = std::ceil(plan.platform.devices() / of_a_host);
    if (hosts > 1.0) {
        remark(plan, fmt::format("{:.0f} devices are {:.0f} hosts of {:.0f}: start it on each, and tell them of each other",
                                 plan.platform.devices(), hosts, of_a_host));
    }
    remark_on_loading(plan);
}

/// Whether a server caches keys and values so without a flag, in whichever format of 16 bits.
bool caches_so_by_default(const Engine& engine, sim::NumberFormat cache, sim::NumberFormat published) {
    const bool published_in_16 = dialect_of(engine).caches_in_16_bits || sim::bits_of(published) == 16.0;
    return cache == published || (sim::bits_of(cache) == 16.0 && published_in_16);
}

/// Its share of the devices' memory, where it is not the engine's default.
void plan_memory(FlagPlan& plan, const sim::RoundSetup& setup) {
    if (setup.platform.memory_utilisation != setup.platform.stack.memory.memory_utilisation) {
        plan.memory_utilisation = setup.platform.memory_utilisation;
    }
    if (const std::optional<double> share = share_within_limit(setup)) {
        plan.memory_utilisation = share;
        if (!dialect_of(*plan.engine).takes_share_of_memory) {
            remark(plan, fmt::format("no flag holds it to the {:.4g} GB of a device that were priced",
                                     1e-9 * setup.platform.memory_limit->value()));
        }
    }
}

/// The variant's server before anything is said of drafting.
FlagPlan deployment_of(const sweeps::Variant& variant, const Engine& engine, double requests) {
    FlagPlan plan;
    plan.engine = &engine;
    plan.platform = variant.setup.platform;
    plan.requests = requests;
    plan.checkpoints = checkpoints_of(variant, engine);
    plan.target = variant.setup.target;
    plan.remarks = plan.checkpoints.remarks;
    plan_memory(plan, variant.setup);
    const sim::NumberFormat cache = variant.setup.precision.kv_cache.format;
    if (!caches_so_by_default(engine, cache, plan.target.precision.kv_cache.format)) {
        plan.kv_cache = engine.cache_word(cache);
        remark(plan, plan.kv_cache.empty()
                         ? fmt::format("keys and values are priced in {}, for which no flag is known", name_of(cache))
                         : "");
    }
    if (plan.platform.stack.serving.states_budget) {
        plan.token_budget = plan.platform.stack.serving.step_tokens;
    }
    remark_on_deployment(plan);
    return plan;
}

/// Why the engine does not serve the target there, whatever drafts, as a sentence; empty if it does.
std::string server_problem(const sweeps::Variant& variant, const Engine& engine) {
    const std::string device = device_problem(engine, variant.setup.platform.device);
    return device.empty() ? cut_problem(engine, variant.setup) : device;
}

/// Why the engine does not draft this on that platform, as a sentence; empty if it does.
std::string why_not_drafted(const sweeps::Variant& variant, const Engine& engine, const sim::Speculation& speculation) {
    const std::string problem = drafting_problem(engine, variant.setup);
    return problem.empty() ? tree_problem(engine, kind_of(variant.setup.drafter), speculation, variant.setup.target) : problem;
}

/// Puts the drafter into a plan whose engine drafts with it.
void add_drafter(FlagPlan& plan, const sweeps::Variant& variant) {
    const std::vector<std::string>& remarks = plan.checkpoints.of_drafter;
    plan.remarks.insert(plan.remarks.end(), remarks.begin(), remarks.end());
    const sim::Drafter& drafter = variant.setup.drafter;
    plan.drafter = *plan.engine->drafter(kind_of(drafter));
    plan.drafter->word = word_for(*plan.engine, *plan.drafter, plan.target);
    plan.translated = is_translated(*plan.engine, variant.setup);
    plan.drafter->scheduled = changes_lengths(*plan.engine, variant.setup);
    const auto& rollback_flags = plan.platform.stack.states.rollback_flags;
    if (const auto flag = rollback_flags.find(variant.setup.rollback); flag != rollback_flags.end()) {
        plan.rollback_flag = plan.engine->flag_at(flag->second);
    }
}

/// What is not known of the drafter that was priced.
void remark_on_drafter(FlagPlan& plan, const sweeps::Variant& variant) {
    const auto* model = std::get_if<sim::IndependentDrafter>(&variant.setup.drafter);
    if (plan.drafter->kind == DrafterKind::pard && plan.checkpoints.drafter == drafter_placeholder && model != nullptr) {
        remark(plan, fmt::format("{}: {} as trained for PARD; none is known here, and the model itself drafts no tokens in "
                                 "parallel",
                                 drafter_placeholder, model->model.name));
    } else if (plan.drafter->needs_path && plan.checkpoints.drafter == drafter_placeholder) {
        remark(plan, is_of_others(variant.setup.acceptance)
                         ? fmt::format("{}: one trained for {}; none is known here, and this is what one would gain",
                                       drafter_placeholder, plan.target.name)
                         : fmt::format("{}: the drafter that accepts so much; its repository is not known here",
                                       drafter_placeholder));
    }
}

/// A drafter of the target's own vocabulary whose tokens are mapped all the same.
void remark_on_rows(FlagPlan& plan, const sweeps::Variant& variant) {
    const auto* drafter = std::get_if<sim::IndependentDrafter>(&variant.setup.drafter);
    if (plan.translated && drafter != nullptr && !drafter->translated) {
        remark(plan, fmt::format("the draft model's embedding has {} rows, the target's {}: the flags map tokens, and {} then "
                                 "drafts greedily",
                                 drafter->model.vocabulary_size, plan.target.vocabulary_size, plan.engine->title));
    }
}

/// What is not known of the layers that draft.
void remark_on_layers(FlagPlan& plan, const sweeps::Variant& variant) {
    remark_on_rows(plan, variant);
    const DrafterKind kind = plan.drafter->kind;
    if (kind == DrafterKind::mtp && plan.longest() > 1 && !plan.target.mtp_layers &&
        dialect_of(*plan.engine).one_draft_a_module) {
        remark(plan, "how many MTP modules the checkpoint has is not known; of several each drafts one token");
    }
    if (kind_is_assumed(variant.setup.drafter)) {
        remark(plan, fmt::format("the input does not say which one-layer drafter it is; assumed {}", name_of(kind)));
    }
}

/// Prompts that were asked to be read otherwise than the engine reads them by itself.
void plan_prompts(FlagPlan& plan) {
    const sim::ServingPolicy& serving = plan.platform.stack.serving;
    const Dialect& dialect = dialect_of(*plan.engine);
    if (!serving.states_prefill || serving.prefill == dialect.reads_prompts ||
        serving.prefill == sim::PrefillPolicy::disaggregated) {
        return;
    }
    if (!plan.drafter && serving.prefill == sim::PrefillPolicy::mixed && !dialect.mixes_prompts.empty()) {
        plan.prompts_flag = dialect.mixes_prompts;
        return;
    }
    remark(plan, fmt::format("prompts are priced as {}, which no flag of {} asks for{}: it reads them as {}",
                             name_of(serving.prefill), plan.engine->title,
                             dialect.mixes_prompts.empty() ? "" : " while it drafts", name_of(dialect.reads_prompts)));
}

/// Kernels that were asked for and that the command does not ask for.
void remark_on_kernels(FlagPlan& plan) {
    const sim::PickedKernels& picked = plan.platform.stack.picked;
    const auto check = [&](const std::string& title, const std::map<std::string, std::string>& flags) {
        if (!title.empty() && !flags.contains(plan.engine->word)) {
            remark(plan, fmt::format("no flag of {} is known that runs these kernels, which are priced: {}", plan.engine->title,
                                     title));
        }
    };
    check(picked.attention_kernels.title, picked.attention_kernels.flags);
    check(picked.expert_kernels.title, picked.expert_kernels.flags);
}

void remark_on_links(FlagPlan& plan) {
    if (const sim::Interconnect* link = sim::link_of(plan.platform)) {
        if (const auto asked = link->own.asked_by.find(plan.engine->word); asked != link->own.asked_by.end()) {
            remark(plan, "builds that have all-reduces of their own run them with " + asked->second);
        }
    }
}

}  // namespace

namespace {

/// Whether more requests at once than are served were left out. Of arrivals the server's own count follows from the rate.
bool leaves_out_more(const sweeps::Recommendation& recommendation) {
    return recommendation.traffic.kind != sweeps::LoadKind::arrival_rate &&
           std::any_of(recommendation.unserved.begin(), recommendation.unserved.end(), [&](const sweeps::UnservedLoad& load) {
               return load.point.load > sweeps::largest_batch_of(recommendation.traffic);
           });
}

}  // namespace

double planned_requests(const sweeps::Recommendation& recommendation) {
    return recommendation.settled.points.empty() ? 1.0 : sweeps::largest_batch_of(recommendation.settled);
}

PlanResult plan_flags(const sweeps::Recommendation& recommendation, const Engine& engine) {
    const sweeps::Candidate& best = recommendation.candidates.front();
    const sweeps::Variant& variant = recommendation.variants[best.variant];
    if (std::string problem = server_problem(variant, engine); !problem.empty()) {
        return {{}, std::move(problem)};
    }
    FlagPlan plan = deployment_of(variant, engine, planned_requests(recommendation));
    const double context = recommendation.traffic.points.empty() ? 0.0 : sweeps::longest_context_of(recommendation.traffic);
    // A request that has so many tokens in the cache is to get at least one more.
    const double request =
        std::max(context > 0.0 ? context + 1.0 : 0.0, variant.setup.prompt_tokens + variant.setup.output_tokens);
    plan.request_tokens = request > 0.0 ? request + (recommendation.speculate ? best.draft_tokens : 0) : 0.0;
    plan.whole_context = recommendation.capacity.whole_context;
    plan.capped = leaves_out_more(recommendation);
    if (recommendation.speculate) {
        const std::string problem =
            why_not_drafted(variant, engine, recommendation.speculations[static_cast<std::size_t>(best.speculation)]);
        if (!problem.empty()) {
            return {{}, problem};
        }
        add_drafter(plan, variant);
        remark_on_drafter(plan, variant);
        if (!plan_drafting(plan, recommendation, best)) {
            return {{}, "no chain of drafts pays at any batch size"};
        }
        if (recommendation.traffic.points.size() > 1) {
            remark(plan, schedule_problem(engine, variant.setup));
        }
        remark_on_layers(plan, variant);
    }
    remark_on_links(plan);
    remark_on_kernels(plan);
    plan_prompts(plan);
    return {std::move(plan), ""};
}

PlanResult plan_of_shape(const sweeps::Variant& variant, const Engine& engine, const sim::Speculation& speculation,
                         int draft_tokens, double requests) {
    if (std::string problem = server_problem(variant, engine); !problem.empty()) {
        return {{}, std::move(problem)};
    }
    FlagPlan plan = deployment_of(variant, engine, requests);
    if (draft_tokens > 0) {
        const std::string problem = why_not_drafted(variant, engine, speculation);
        if (!problem.empty()) {
            return {{}, problem};
        }
        add_drafter(plan, variant);
        plan.shape = speculation.shape;
        plan.draft_tokens = draft_tokens;
        remark_on_layers(plan, variant);
    }
    remark_on_links(plan);
    remark_on_kernels(plan);
    plan_prompts(plan);
    return {std::move(plan), ""};
}

std::string joined_remarks(const std::vector<std::string>& remarks) { return fmt::format("{}", fmt::join(remarks, "; ")); }

}  // namespace treeline::engines
