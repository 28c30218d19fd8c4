#include "requests/keys/key_tables.h"

#include "requests/fpga/fpga_run_reader.h"
#include "requests/keys/acceptance_study_keys.h"
#include "requests/keys/adaptive_keys.h"
#include "requests/keys/break_even_keys.h"
#include "requests/keys/decode_keys.h"
#include "requests/keys/fpga_keys.h"
#include "requests/keys/loop_keys.h"
#include "requests/keys/point_keys.h"
#include "requests/keys/setup_keys.h"
#include "requests/keys/sweep_keys.h"
#include "requests/keys/tree_keys.h"
#include "requests/keys/workload_keys.h"

namespace treeline::requests {

const std::vector<json::KeyTable>& key_tables() {
    static const std::vector<json::KeyTable> tables = {
        {"workload", workload_keys::rows(), {}, {"target", "platforms", "traffic"}},
        {"traffic", traffic_keys::rows()},
        {"shares", share_keys::rows(), {"traffic.batch", "traffic.concurrency", "traffic.arrival_rate", "traffic.context"}},
        {"limits", limit_keys::rows()},
        {"point", point_keys::rows(), {"diagnosis.point"}, {"target", "platform"}},
        {"point.traffic", traffic_kind_keys::rows()},
        {"training", training_keys::rows()},
        {"sweep", sweep_keys::rows()},
        {"axes", sweep_axis_keys::rows()},
        {"axes.device", sweep_element_keys::rows()},
        {"axes.precision", sweep_element_keys::rows_of_precision()},
        {"conditions", condition_keys::rows()},
        {"range",
         range_keys::rows(),
         {"batch", "concurrency", "context", "draft_tokens", "kept_layers", "tensor_parallel", "expert_parallel",
          "attention_data_parallel", "pipeline_parallel", "nodes", "depth", "traffic.batch", "traffic.concurrency",
          "traffic.context"}},
        {"powers_of_two", range_keys::rows_of_powers()},
        {"target", target_keys::rows()},
        {"placement", placement_keys::rows()},
        {"precision", precision_keys::rows()},
        {"format",
         storage_keys::rows(),
         {"weights", "attention", "lm_head", "experts", "embeddings", "activations", "kv_cache", "state"}},
        {"platform", platform_keys::rows(), {"platform", "platforms"}},
        {"platform.gpus", gpus_keys::rows()},
        {"drafter",
         drafter_keys::rows(),
         {"drafter", "drafters", "lookup", "otherwise", "middle", "inner"},
         {},
         drafter_keys::rows_of_kinds()},
        {"acceptance", acceptance_keys::rows()},
        {"measured", measured_shape_keys::rows()},
        {"tree", tree_keys::rows(), {"shape", "shapes"}},
        {"tree.sequences", tree_keys::rows_of_kind("sequences")},
        {"tree.beams", tree_keys::rows_of_kind("beams")},
        {"tree.sglang", tree_keys::rows_of_kind("sglang")},
        {"tree.tensorrt_llm", tree_keys::rows_of_kind("tensorrt_llm")},
        {"tree.optimal", tree_keys::rows_of_kind("optimal")},
        {"lengths", length_keys::rows(), {"prompt_tokens", "output_tokens"}},
        {"diagnosis", diagnosis_keys::rows(), {}, {"run", "point"}},
        {"lint", lint_keys::rows(), {}, {"text"}},
        {"break-even", break_even_keys::rows()},
        {"break-even.side", side_keys::rows()},
        {"break-even.simulate", simulated_keys::rows()},
        {"break-even.drafting", drafting_keys::rows()},
        {"times", time_keys::rows()},
        {"bandit", bandit_keys::rows()},
        {"bandit.arms", arm_keys::rows()},
        {"bandit.tasks", task_keys::rows()},
        {"bandit.sequence", sequence_keys::rows()},
        {"policies", policies_keys::rows()},
        {"policies.measured", measured_policies_keys::rows()},
        {"policies.rates", measured_rate_keys::rows()},
        {"design_point", design_point_keys::rows()},
        {"requests", requests_keys::rows()},
        {"requests.output_tokens", answer_keys::rows()},
        {"requests.clearing", clearing_keys::rows()},
        {"requests.simulation", simulation_keys::rows()},
        {"requests.settings", setting_keys::rows()},
        {"acceptance-study", acceptance_study_keys::rows()},
        {"acceptance-study.world", world_keys::rows()},
        {"acceptance-study.measured", measured_study_keys::rows()},
        {"acceptance-study.points", measured_point_keys::rows()},
        {"decode", decode_keys::rows()},
        {"decode.drafter", decode_drafter_keys::rows()},
        {"decode.acceptance", decode_acceptance_keys::rows()},
        {"fpga", fpga_keys::rows()},
        {"fpga.changes", change_rows()},
        {"fpga.explore", fpga_explore_keys::rows()},
        {"fpga.drafters", fpga_drafter_keys::rows()},
        {"fpga.claims", fpga_claim_keys::rows()},
        {"fpga.states", fpga_state_keys::rows()},
        {"fpga.structures", fpga_structure_keys::rows()},
        {"fpga.rows", fpga_structure_keys::rows_of_row()},
    };
    return tables;
}

}  // namespace treeline::requests
