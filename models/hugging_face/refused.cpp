#include "models/hugging_face/refused.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "models/hugging_face/names.h"

namespace treeline::models::hugging_face {

namespace {

struct Refusal {
    std::string_view start;  ///< of the family's plain name
    std::string_view reason;
};

constexpr std::string_view encoder = "encodes text and does not generate token by token, so there is nothing to speculate on";
constexpr std::string_view encoder_decoder =
    "has an encoder whose output every decoder layer attends to; cross-attention has no block in a description yet";
constexpr std::string_view rwkv = "mixes tokens by RWKV's recurrence, which has no block in a description yet";
constexpr std::string_view linear =
    "keeps states of linear attention without a delta rule, which have no block in a description yet";
constexpr std::string_view diffusion = "denoises many tokens at a time instead of decoding them one by one";
constexpr std::string_view drafter =
    "is a drafter of another model, not a model: give this file to --drafter (\"drafter\"), and the target to --model";

constexpr std::array<Refusal, 100> refusals = {{
    {"recurrentgemma", "has RG-LRU layers, which have no block in a description yet"},
    {"griffin", "has RG-LRU layers, which have no block in a description yet"},
    {"xlstm", "has mLSTM layers, which have no block in a description yet"},
    {"rwkv", rwkv},
    {"gla", linear},
    {"gsa", linear},
    {"hgrn", linear},
    {"retnet", linear},
    {"lightnet", linear},
    {"linearattn", linear},
    {"deltanet", "keeps states of a delta rule without a gate, which have no block in a description yet"},
    {"gateddeltaproduct", "applies several delta rules to each token, which has no block in a description yet"},
    {"samba", "alternates Mamba-1 with attention in a window in its own way; Jamba and Zamba2 can be imported"},
    {"phi4flash", "shares one KV cache among its upper layers (SambaY), which cannot be priced yet"},
    {"plamo2", "has layers that no description of a hybrid covers yet (normalised Mamba with heads)"},
    {"step3", "projects queries through a narrow shared layer (multi-matrix factorisation), which has no block yet"},
    {"step3vl", "projects queries through a narrow shared layer (multi-matrix factorisation), which has no block yet"},
    {"mllama", encoder_decoder},
    {"blt", "groups bytes into patches of varying length, so there is no fixed cost per token"},
    {"t5", encoder_decoder},
    {"mt5", encoder_decoder},
    {"umt5", encoder_decoder},
    {"longt5", encoder_decoder},
    {"t5gemma", encoder_decoder},
    {"bart", encoder_decoder},
    {"mbart", encoder_decoder},
    {"pegasus", encoder_decoder},
    {"marian", encoder_decoder},
    {"m2m100", encoder_decoder},
    {"whisper", encoder_decoder},
    {"led", encoder_decoder},
    {"blenderbot", encoder_decoder},
    {"encoderdecoder", encoder_decoder},
    {"visionencoderdecoder", encoder_decoder},
    {"speechencoderdecoder", encoder_decoder},
    {"florence2", encoder_decoder},
    {"fsmt", encoder_decoder},
    {"bigbirdpegasus", encoder_decoder},
    {"switchtransformers", encoder_decoder},
    {"nllbmoe", encoder_decoder},
    {"speecht5", encoder_decoder},
    {"bert", encoder},
    {"roberta", encoder},
    {"xlmroberta", encoder},
    {"camembert", encoder},
    {"distilbert", encoder},
    {"albert", encoder},
    {"electra", encoder},
    {"deberta", encoder},
    {"modernbert", encoder},
    {"nomicbert", encoder},
    {"eurobert", encoder},
    {"mpnet", encoder},
    {"esm", encoder},
    {"longformer", encoder},
    {"bigbird", encoder},
    {"clip", encoder},
    {"siglip", encoder},
    {"vit", encoder},
    {"zamba", "shares an attention block among Mamba-1 layers in its own way; Zamba2 can be imported"},
    {"megatronbert", encoder},
    {"rembert", encoder},
    {"roformer", encoder},
    {"rocbert", encoder},
    {"data2vec", encoder},
    {"bertgenerationdecoder", encoder},
    {"xlmrobertaxl", encoder},
    {"robertaprelayernorm", encoder},
    {"xlm", encoder},
    {"xlmwithlmhead", encoder},
    {"xmod", encoder},
    {"layoutlm", encoder},
    {"xlnet", "permutes the order of its tokens and attends in two streams, which cannot be priced yet"},
    {"prophetnet", encoder_decoder},
    {"xlmprophetnet", encoder_decoder},
    {"plbart", encoder_decoder},
    {"mvp", encoder_decoder},
    {"trocr", encoder_decoder},
    {"blenderbotsmall", encoder_decoder},
    {"musicgen", encoder_decoder},
    {"musicgenmelody", encoder_decoder},
    {"moshi", "decodes audio with a small decoder of its own at each step, which cannot be priced yet"},
    {"git", encoder_decoder},
    {"diffllama", "subtracts two attentions of half the heads from each other, which has no block in a description yet"},
    {"doge", "masks attention dynamically and looks up experts by product keys, which has no block in a description yet"},
    {"jetmoe", "routes tokens to attention heads as to experts, which has no block in a description yet"},
    {"ouro", "runs its layers several times with possible exits in between, so there is no fixed cost per token"},
    {"motif", "subtracts attentions of groups of heads from each other, which has no block in a description yet"},
    {"zaya",
     "convolves compressed queries and keys (CCA) and routes by small networks, which have no block in a description yet"},
    {"jetnemotron", "has layers of dynamic convolutions (JetBlock), which have no block in a description yet"},
    {"nemotronflash", "has DeltaNet layers beside Mamba-2 with tokens of its own, which no description of a hybrid covers yet"},
    {"grovemoe", "has experts that whole groups share (adjugate experts), which have no block in a description yet"},
    {"megrez2", "shares the same experts among several layers, which has no block in a description yet"},
    {"megrezmoe", "shares the same experts among several layers, which has no block in a description yet"},
    {"hrm", "runs two stacks of layers in nested cycles, which has no block in a description yet"},
    {"iquestloopcoder", "runs its layers twice over two caches, which has no block in a description yet"},
    {"raven", "repeats its layers as often as a token needs, so there is no fixed cost per token"},
    {"baichuanm1", "convolves keys and values over time, which has no block in a description yet"},
    {"yuan", "filters hidden states over neighbouring tokens (LFA), which has no block in a description yet"},
    {"hymba", "runs attention and Mamba-1 heads in one block with tokens of its own, which has no block yet"},
}};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

std::optional<std::string> reason_to_refuse(const std::string& architecture, bool sees_images) {
    for (const char* task : {"ForSequenceClassification", "ForTokenClassification", "ForMaskedLM", "ForQuestionAnswering",
                             "ForRewardModel", "RewardModel"}) {
        if (architecture.ends_with(task)) {
            return std::string(encoder);
        }
    }
    for (const char* part : {"Eagle", "eagle", "Medusa", "medusa", "Hydra", "MTP", "DFlash", "DSpark", "Domino", "HASS",
                             "Speculator", "DraftModel", "Gemma4Assistant"}) {
        // NVIDIA's vision models are called Eagle, too.
        if (contains(architecture, part) && !sees_images) {
            return std::string(drafter);
        }
    }
    // Language models of diffusion, in all their versions (LLaDA2Moe, SDARMoe, DreamOn, Fast_dLLM).
    for (const char* part : {"LLaDA", "llada", "Dream", "dream", "SDAR", "sdar", "dLLM", "Diffu", "diffu", "DLM"}) {
        if (contains(architecture, part) && !contains(architecture, "oondream")) {
            return std::string(diffusion);
        }
    }
    const std::string plain = plain_family(architecture);
    const Refusal* found = nullptr;
    for (const Refusal& refusal : refusals) {
        // The exact name, or one that starts so and goes on with a number ("rwkv6").
        const bool starts = plain.starts_with(refusal.start);
        const bool number_follows = starts && plain.size() > refusal.start.size() &&
                                    plain.find_first_not_of("0123456789v", refusal.start.size()) == std::string::npos;
        const bool longer = found == nullptr || refusal.start.size() > found->start.size();
        if ((plain == refusal.start || number_follows) && longer) {
            found = &refusal;
        }
    }
    return found == nullptr ? std::nullopt : std::optional<std::string>(found->reason);
}

}  // namespace treeline::models::hugging_face
