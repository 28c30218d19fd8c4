// Flags of `treeline estimate` as keys of a point.
#include <array>

#include "requests/flag_values.h"
#include "requests/point_reader.h"

namespace treeline {
namespace {

void set_acceptance(FlagJson& point, const PointFlags& flags) {
    if (!flags.acceptance.empty() && !flags.accept_length.empty()) {
        throw InputError({"flags: --acceptance and --accept-length say the same thing; give one of them"});
    }
    if (flags.acceptance.empty() && flags.accept_length.empty()) {
        return;
    }
    if (!point.contains("drafter") || !point["drafter"].is_object()) {
        throw InputError({"flags: --acceptance and --accept-length need a --drafter"});
    }
    point["drafter"]["acceptance"] = flags.acceptance.empty()
                                         ? accept_length_of_flag(flags.accept_length, point.value("draft_tokens", FlagJson(5)))
                                         : acceptance_of_flag(flags.acceptance);
}

void set_drafter(FlagJson& point, const PointFlags& flags) {
    if (!flags.drafter.empty()) {
        const FlagJson before = point.value("drafter", FlagJson::object());
        point["drafter"] = drafter_of_flag(flags.drafter);
        if (before.is_object() && before.contains("acceptance") && !point["drafter"].contains("acceptance")) {
            point["drafter"]["acceptance"] = before["acceptance"];
        }
    }
    set_acceptance(point, flags);
}

void set_platform(FlagJson& point, const PointFlags& flags) {
    const std::string any = flags.device + flags.design + flags.gpus + flags.tensor_parallel + flags.expert_parallel +
                            flags.attention_data_parallel + flags.pipeline_parallel + flags.draft_tensor_parallel +
                            flags.interconnect + flags.stack + flags.mode;
    if (any.empty()) {
        return;
    }
    FlagJson& platform = object_under(point, "platform", "device");
    if (!flags.device.empty()) {
        platform["device"] = flags.device;
        platform.erase("design");
    }
    if (!flags.design.empty()) {
        platform["design"] = flags.design;
    }
    set_flag(platform, "gpus", flags.gpus);
    set_flag(platform, "tensor_parallel", flags.tensor_parallel);
    set_flag(platform, "expert_parallel", flags.expert_parallel);
    set_flag(platform, "attention_data_parallel", flags.attention_data_parallel);
    set_flag(platform, "pipeline_parallel", flags.pipeline_parallel);
    set_flag(platform, "draft_tensor_parallel", flags.draft_tensor_parallel);
    set_flag(platform, "interconnect", flags.interconnect);
    set_flag(platform, "stack", flags.stack);
    set_flag(platform, "mode", flags.mode);
}

/// A flag of the load takes the place of the file's load, however that is stated.
void set_load(FlagJson& point, const PointFlags& flags) {
    if (!flags.batch.empty() || !flags.concurrency.empty() || !flags.arrival_rate.empty()) {
        for (const char* key : {"batch", "concurrency", "arrival_rate"}) {
            point.erase(key);
        }
    }
    set_flag(point, "batch", flags.batch);
    set_flag(point, "concurrency", flags.concurrency);
    set_flag(point, "arrival_rate", flags.arrival_rate);
}

constexpr auto point_flag_keys = std::to_array<FlagKey>({{"--accept-length", "drafter.acceptance.mean_length"},
                                                         {"--draft-tokens", "drafter.acceptance.draft_tokens"},
                                                         {"--acceptance", "drafter.acceptance"},
                                                         {"--drafter", "drafter"},
                                                         {"--target", "target.model"},
                                                         {"--precision", "target.precision"},
                                                         {"--target", "target"},
                                                         {"--device", "platform.device"},
                                                         {"--design", "platform.design"},
                                                         {"--tensor-parallel", "platform.tensor_parallel"},
                                                         {"--gpus", "platform.gpus"},
                                                         {"--expert-parallel", "platform.expert_parallel"},
                                                         {"--attention-data-parallel", "platform.attention_data_parallel"},
                                                         {"--pipeline-parallel", "platform.pipeline_parallel"},
                                                         {"--draft-tensor-parallel", "platform.draft_tensor_parallel"},
                                                         {"--interconnect", "platform.interconnect"},
                                                         {"--stack", "platform.stack"},
                                                         {"--mode", "platform.mode"},
                                                         {"--device", "platform"},
                                                         {"--draft-tokens", "draft_tokens"},
                                                         {"--shape", "shape"},
                                                         {"--verification", "verification"},
                                                         {"--batch", "batch"},
                                                         {"--concurrency", "concurrency"},
                                                         {"--arrival-rate", "arrival_rate"},
                                                         {"--context", "context"},
                                                         {"--prompt", "prompt_tokens"},
                                                         {"--output-tokens", "output_tokens"},
                                                         {"--prefix-hit", "prefix_hit"},
                                                         {"--rollback", "rollback"},
                                                         {"--decoding", "decoding"},
                                                         {"--decoding-budget", "training.decoding_budget"},
                                                         {"--draft-training", "training.draft_training"}});

}  // namespace

FlagJson with_flags(FlagJson point, const PointFlags& flags) {
    if (!point.is_object()) {
        return point;  // the reader says what is wrong with it
    }
    if (!flags.model.empty() || !flags.precision.empty()) {
        FlagJson& target = object_under(point, "target", "model");
        if (!flags.model.empty()) {
            target["model"] = flags.model;
        }
        set_flag(target, "precision", flags.precision);
    }
    set_platform(point, flags);
    set_flag(point, "draft_tokens", flags.draft_tokens);
    set_flag(point, "shape", flags.shape);
    set_flag(point, "verification", flags.verification);
    set_drafter(point, flags);
    set_load(point, flags);
    set_flag(point, "context", flags.context);
    set_flag(point, "prompt_tokens", flags.prompt);
    set_flag(point, "output_tokens", flags.output_tokens);
    set_flag(point, "prefix_hit", flags.prefix_hit);
    set_flag(point, "rollback", flags.rollback);
    set_flag(point, "decoding", flags.decoding);
    if (!flags.decoding_budget.empty() || !flags.draft_training.empty()) {
        FlagJson& training = point["training"];
        set_flag(training, "decoding_budget", flags.decoding_budget);
        set_flag(training, "draft_training", flags.draft_training);
    }
    return point;
}

std::vector<std::string> in_terms_of_flags(std::vector<std::string> problems) {
    return in_terms_of_flags(std::move(problems), point_flag_keys);
}

}  // namespace treeline
