// Times of single calls of llama_decode and of sampling, which the server's rounds are made of: passes that repeat the shape of
// the pass before them (their CUDA graph is replayed), and passes that change it (built, launched kernel by kernel, captured
// again).
//
//     decode_times MODEL.gguf PROMPT SEQUENCES DRAFTS          (CSV on standard output; medians in milliseconds)
//
// Built against llama.cpp's headers and libraries (llama.h, common/sampling.h).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "common.h"
#include "llama.h"
#include "sampling.h"

namespace {

double milliseconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

// A context with `sequences` sequences that have read a prompt; `decode` appends rows to each.
class Sequences {
public:
    Sequences(llama_model* model, int sequences, int prompt, int rows, int passes)
        : vocabulary_(llama_vocab_n_tokens(llama_model_get_vocab(model))) {
        llama_context_params parameters = llama_context_default_params();
        parameters.n_seq_max = sequences;
        parameters.n_ctx = sequences * ((prompt + rows * passes + 255) / 256 * 256);
        parameters.n_batch = 2048;
        parameters.n_ubatch = 512;
        parameters.n_rs_seq = rows - 1;
        parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
        parameters.kv_unified = false;
        context_ = llama_init_from_model(model, parameters);
        if (context_ == nullptr) {
            std::exit(1);
        }
        batch_ = llama_batch_init(2048, 0, 1);
        ends_.assign(sequences, 0);
        for (int sequence = 0; sequence < sequences; ++sequence) {
            for (int done = 0; done < prompt; done += 512) {
                common_batch_clear(batch_);
                append(sequence, std::min(512, prompt - done), false);
                run();
            }
        }
    }
    ~Sequences() {
        llama_batch_free(batch_);
        llama_free(context_);
    }
    // One pass over `rows` further tokens of each sequence, all of them with logits.
    double decode(int rows) {
        common_batch_clear(batch_);
        for (int sequence = 0; sequence < static_cast<int>(ends_.size()); ++sequence) {
            append(sequence, rows, true);
        }
        return milliseconds_of([this] { run(); });
    }
    // All but one of the last `rows` tokens of each sequence are taken back, as a round whose drafts were all rejected does.
    double take_back(int rows) {
        return milliseconds_of([&] {
            for (int sequence = 0; sequence < static_cast<int>(ends_.size()); ++sequence) {
                ends_[sequence] -= rows - 1;
                if (!llama_memory_seq_rm(llama_get_memory(context_), sequence, ends_[sequence], -1)) {
                    std::exit(2);
                }
            }
        });
    }
    double sample(const std::vector<common_sampler_ptr>& samplers) {
        return milliseconds_of([&] {
            for (int sequence = 0; sequence < static_cast<int>(ends_.size()); ++sequence) {
                common_sampler_accept(samplers[sequence].get(),
                                      common_sampler_sample(samplers[sequence].get(), context_, sequence), true);
            }
        });
    }

private:
    void append(int sequence, int rows, bool logits) {
        for (int row = 0; row < rows; ++row) {
            common_batch_add(batch_, 300 + std::rand() % (vocabulary_ - 400), ends_[sequence]++, {sequence}, logits);
        }
    }
    void run() {
        if (llama_decode(context_, batch_) != 0) {
            std::exit(3);
        }
        llama_synchronize(context_);
    }

    int vocabulary_;
    llama_context* context_ = nullptr;
    llama_batch batch_{};
    std::vector<int> ends_;
};

std::vector<common_sampler_ptr> samplers_of(llama_model* model, int count, const common_params_sampling& given) {
    std::vector<common_sampler_ptr> samplers;
    for (int i = 0; i < count; ++i) {
        common_params_sampling parameters = given;
        samplers.emplace_back(common_sampler_init(model, parameters));
    }
    return samplers;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) {
        std::fprintf(stderr, "usage: decode_times MODEL.gguf PROMPT SEQUENCES DRAFTS\n");
        return 1;
    }
    llama_log_set(
        [](ggml_log_level level, const char* text, void*) {
            if (level >= GGML_LOG_LEVEL_ERROR)
                std::fputs(text, stderr);
        },
        nullptr);
    ggml_backend_load_all();
    llama_model_params parameters = llama_model_default_params();
    parameters.n_gpu_layers = 999;
    llama_model* model = llama_model_load_from_file(arguments[1], parameters);
    if (model == nullptr) {
        return 1;
    }
    const int prompt = std::atoi(arguments[2]), sequences = std::atoi(arguments[3]), drafts = std::atoi(arguments[4]),
              rounds = 12;
    Sequences state(model, sequences, prompt, drafts + 1, 16 + rounds * (drafts + 6));
    const auto print = [&](const std::string& what, double value) {
        std::printf("%s,%d,%d,%d,%s,%.4f\n", arguments[1], prompt, sequences, drafts, what.c_str(), value);
    };
    const auto repeated = [&](int rows) {
        std::vector<double> times;
        for (int i = 0; i < rounds; ++i) {
            times.push_back(state.decode(rows));
            state.take_back(rows);
        }
        return median({times.begin() + 4, times.end()});
    };
    print("repeated:1", repeated(1));
    print("repeated:" + std::to_string(drafts + 1), repeated(drafts + 1));
    std::vector<std::vector<double>> times(drafts +
                                           1);  // a draft context's passes: the verified rows, then one row for each draft
    for (int round = 0; round < rounds; ++round) {
        times[0].push_back(state.decode(drafts + 1));
        state.take_back(drafts + 1);
        for (int draft = 1; draft <= drafts; ++draft) {
            times[draft].push_back(state.decode(1));
        }
    }
    print("cycle:verified", median(times[0]));
    for (int draft = 1; draft <= drafts; ++draft) {
        print("cycle:draft " + std::to_string(draft), median(times[draft]));
    }
    std::vector<double> back;
    for (int round = 0; round < 6; ++round) {
        state.decode(drafts + 1);
        back.push_back(state.take_back(drafts + 1));
    }
    print("take back", median(back));
    common_params_sampling greedy;
    greedy.temp = 0;
    common_params_sampling draft;
    draft.top_k = 10;
    draft.samplers = {COMMON_SAMPLER_TYPE_TOP_K};
    for (const auto& [name, given] : {std::pair{"sample:default, temperature 0", greedy},
                                      {"sample:default", common_params_sampling{}},
                                      {"sample:draft", draft}}) {
        const auto samplers = samplers_of(model, sequences, given);
        std::vector<double> sampled;
        for (int round = 0; round < 8; ++round) {
            state.decode(1);
            sampled.push_back(state.sample(samplers));
        }
        print(name, median(sampled) / sequences);
    }
    llama_model_free(model);
}
