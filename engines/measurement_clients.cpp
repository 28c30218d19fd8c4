#include "engines/measurement_clients.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace treeline::engines {
namespace {

constexpr double clients_for_acceptance = 8.0;  ///< how many drafts are accepted hardly depends on it, the run's time does

double requests_of(const sweeps::CandidateRun& run) { return std::max(32.0, 8.0 * run.batch); }

}  // namespace

double prompt_of(const sweeps::CandidateRun& run) { return std::max(16.0, std::round(run.context - 0.5 * answer_tokens)); }

double clients_of(const sweeps::CandidateRun& run) {
    return run.of_acceptance ? std::max(clients_for_acceptance, run.batch) : run.batch;
}

std::string result_of(const sweeps::CandidateRun& run) {
    return run.of_acceptance ? fmt::format("acceptance-drafts-{}", run.draft_tokens)
                             : fmt::format("batch-{:g}-drafts-{}", run.batch, run.draft_tokens);
}

/// What is accepted depends on what is asked.
std::string asked_in(const sweeps::CandidateRun& run, const char* exact) {
    return run.of_acceptance
               ? fmt::format("--dataset-name custom --dataset-path YOUR_REQUESTS.jsonl --max-concurrency {:g}", clients_of(run))
               : fmt::format(
                     "--dataset-name random --random-input-len {:.0f} --random-output-len {:.0f} {} --max-concurrency {:g} "
                     "--num-prompts {:g}",
                     prompt_of(run), answer_tokens, exact, clients_of(run), requests_of(run));
}

std::string vllm_client(const FlagPlan& plan, const sweeps::CandidateRun& run, const char* other_server) {
    return fmt::format("vllm bench serve {}--model {} {} --save-result --result-filename {}.json", other_server,
                       plan.checkpoints.target, asked_in(run, "--ignore-eos"), result_of(run));
}

std::vector<double> rates_for(double accept_length, int drafts) {
    std::vector<double> rates;
    double left = accept_length - 1.0;
    for (int i = 0; i < drafts; ++i) {
        rates.push_back(std::round(1e4 * std::min(1.0, left)) / 1e4);
        left = std::max(0.0, left - 1.0);
    }
    return rates;
}

}  // namespace treeline::engines
