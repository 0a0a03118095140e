//===- StrategyKeys.cpp - Every key of a strategy --------------*- C++ -*-===//
//
// Fleet's DistributedStrategy key by key, with its defaults. What a later version honours changes its row; nothing else
// decides what is read and what is refused.
//
//===----------------------------------------------------------------------===//

#include "fleet/Strategy/StrategyKeys.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringLiteral;
using llvm::StringRef;

namespace fleet {

static constexpr KeyType Boolean = KeyType::Boolean;
static constexpr KeyType Integer = KeyType::Integer;
static constexpr KeyType Number = KeyType::Number;
static constexpr KeyType String = KeyType::String;
static constexpr KeyType List = KeyType::List;
static constexpr KeyType Object = KeyType::Object;

static constexpr StringLiteral kServers = "there are no parameter servers";
static constexpr StringLiteral kCudnn = "cuDNN is not used";
static constexpr StringLiteral kExact = "every step reduces exact gradients";
static constexpr StringLiteral kUnused =
    "the compiler knows which parameters are used";
static constexpr StringLiteral kExecutor = "there is no graph executor";
static constexpr StringLiteral kFullPrecision =
    "weights are neither quantised nor sparse";
static constexpr StringLiteral kOneVendor =
    "all ranks run on devices of one kind";

static constexpr StrategyKey honoured(StringLiteral path, KeyType type,
                                      StringLiteral defaultValue,
                                      Setting setting) {
  return {path, type, defaultValue, KeyUse::Honoured, setting};
}

static constexpr StrategyKey unsupported(StringLiteral path, KeyType type,
                                         StringLiteral defaultValue) {
  return {path, type, defaultValue, KeyUse::Unsupported};
}

static constexpr StrategyKey noMeaning(StringLiteral path, KeyType type,
                                       StringLiteral defaultValue,
                                       StringLiteral reason) {
  return {path, type, defaultValue, KeyUse::NoMeaning, Setting::None, reason};
}

// clang-format off
static constexpr StrategyKey kKeys[] = {
    {"ignored", List, "[]", KeyUse::Report},
    unsupported("mode", String, "\"COLLECTIVE\""),
    unsupported("amp", Boolean, "false"),
    unsupported("recompute", Boolean, "false"),
    unsupported("localsgd", Boolean, "false"),
    noMeaning("dgc", Boolean, "false", kExact),
    honoured("gradient_merge", Boolean, "false", Setting::GradientMergeSwitch),
    unsupported("lars", Boolean, "false"),
    unsupported("lamb", Boolean, "false"),
    honoured("pipeline", Boolean, "false", Setting::PipelineSwitch),
    unsupported("elastic", Boolean, "false"),
    unsupported("auto", Boolean, "false"),
    noMeaning("a_sync", Boolean, "true", kServers),
    unsupported("sync_nccl_allreduce", Boolean, "true"),
    unsupported("nccl_comm_num", Integer, "1"),
    unsupported("use_hierarchical_allreduce", Boolean, "false"),
    unsupported("hierarchical_allreduce_inter_nranks", Integer, "1"),
    unsupported("sync_batch_norm", Boolean, "false"),
    honoured("fuse_all_reduce_ops", Boolean, "true", Setting::FuseAllReduce),
    honoured("fuse_grad_size_in_MB", Integer, "32", Setting::FuseSizeMB),
    unsupported("fuse_grad_size_in_TFLOPS", Number, "50"),
    noMeaning("cudnn_exhaustive_search", Boolean, "false", kCudnn),
    noMeaning("conv_workspace_size_limit", Integer, "512", kCudnn),
    noMeaning("cudnn_batchnorm_spatial_persistent", Boolean, "false", kCudnn),
    noMeaning("adaptive_localsgd", Boolean, "false", kExact),
    unsupported("fp16_allreduce", Boolean, "false"),
    honoured("sharding", Boolean, "false", Setting::ShardingSwitch),
    unsupported("last_comm_group_size_MB", Number, "1"),
    noMeaning("find_unused_parameters", Boolean, "false", kUnused),
    honoured("tensor_parallel", Boolean, "false", Setting::TensorParallelSwitch),
    noMeaning("without_graph_optimization", Boolean, "true", kExecutor),
    unsupported("fuse_grad_size_in_num", Integer, "8"),
    unsupported("calc_comm_same_stream", Boolean, "false"),
    noMeaning("asp", Boolean, "false", kFullPrecision),
    unsupported("fuse_grad_merge", Boolean, "false"),
    unsupported("semi_auto", Boolean, "false"),
    noMeaning("adam_d2sum", Boolean, "false", kServers),
    unsupported("auto_search", Boolean, "false"),
    noMeaning("heter_ccl_mode", Boolean, "false", kOneVendor),
    noMeaning("is_fl_ps_mode", Boolean, "false", kServers),
    noMeaning("with_coordinator", Boolean, "false", kServers),
    noMeaning("qat", Boolean, "false", kFullPrecision),
    unsupported("split_data", Boolean, "true"),
    noMeaning("downpour_table_param", List, "[]", kServers),
    noMeaning("fs_client_param", Object, "{}", kServers),
    noMeaning("trainer_desc_configs", Object, "{}", kServers),
    unsupported("save_steps", Integer, "0"),
    unsupported("save_dir", String, "\"\""),
    unsupported("resume", String, "\"\""),
    unsupported("recompute_configs.checkpoints", List, "[]"),
    unsupported("recompute_configs.enable_offload", Boolean, "false"),
    unsupported("recompute_configs.checkpoint_shape", List, "[]"),
    unsupported("recompute_configs.enable_tuning", Boolean, "false"),
    unsupported("recompute_configs.refined_ops_patterns", List, "[]"),
    unsupported("sharding_configs.sharding_segment_strategy", String, "\"segment_broadcast_MB\""),
    unsupported("sharding_configs.segment_broadcast_MB", Number, "32"),
    unsupported("sharding_configs.segment_anchors", List, "[]"),
    honoured("sharding_configs.sharding_degree", Integer, "8", Setting::ShardingDegree),
    honoured("sharding_configs.mp_degree", Integer, "1", Setting::MpDegree),
    honoured("sharding_configs.dp_degree", Integer, "1", Setting::DpDegree),
    honoured("sharding_configs.pp_degree", Integer, "1", Setting::PpDegree),
    unsupported("sharding_configs.hybrid_dp", Boolean, "false"),
    honoured("sharding_configs.gradient_merge_acc_step", Integer, "1", Setting::AccumulateSteps),
    unsupported("sharding_configs.optimize_offload", Boolean, "false"),
    unsupported("sharding_configs.pp_allreduce_in_optimize", Boolean, "false"),
    unsupported("sharding_configs.optimize_cast", Boolean, "false"),
    unsupported("sharding_configs._dp_as_optimizer_sharding", Boolean, "false"),
    honoured("sharding_configs.stage", Integer, "1", Setting::ShardingStage),
    unsupported("sharding_configs.enable_tuning", Boolean, "false"),
    unsupported("sharding_configs.use_calc_stream", Boolean, "false"),
    honoured("hybrid_configs.dp_degree", Integer, "-1", Setting::DpDegree),
    honoured("hybrid_configs.mp_degree", Integer, "1", Setting::MpDegree),
    honoured("hybrid_configs.pp_degree", Integer, "1", Setting::PpDegree),
    honoured("hybrid_configs.sharding_degree", Integer, "1", Setting::ShardingDegree),
    honoured("hybrid_configs.sep_degree", Integer, "1", Setting::SepDegree),
    honoured("hybrid_configs.order", List, "[\"dp\", \"pp\", \"sharding\", \"sep\", \"mp\"]", Setting::Order),
    unsupported("hybrid_configs.enable_optimizer_timer", Boolean, "false"),
    unsupported("hybrid_configs.gather_param_after_optimize", Boolean, "true"),
    unsupported("hybrid_configs.mp_configs.sync_param", Boolean, "true"),
    unsupported("hybrid_configs.mp_configs.sync_grad", Boolean, "false"),
    unsupported("hybrid_configs.mp_configs.sync_moment", Boolean, "false"),
    unsupported("hybrid_configs.mp_configs.sync_mode", String, "\"broadcast\""),
    unsupported("hybrid_configs.mp_configs.mp_async_allreduce", Boolean, "false"),
    unsupported("hybrid_configs.mp_configs.mp_skip_c_identity", Boolean, "false"),
    unsupported("hybrid_configs.mp_configs.mp_fused_linear_param_grad_add", Boolean, "false"),
    unsupported("hybrid_configs.mp_configs.need_broadcast_data", Boolean, "true"),
    unsupported("hybrid_configs.mp_configs.recompute_allgather", Boolean, "false"),
    unsupported("hybrid_configs.mp_configs.sp_async_reduce_scatter", Boolean, "false"),
    unsupported("hybrid_configs.mp_configs.sync_param_name", List, "[]"),
    honoured("hybrid_configs.mp_configs.mp_degree", Integer, "1", Setting::MpDegree),
    unsupported("hybrid_configs.pp_configs.dp_comm_overlap", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.sharding_comm_overlap", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.delay_scale_loss", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.enable_timer", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.profiling", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.release_gradients", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.overlap_p2p_comm", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.clear_every_step_cache", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.use_batch_p2p_comm", Boolean, "true"),
    unsupported("hybrid_configs.pp_configs.best_unbalanced_scheduler", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.use_dualpipev", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.forward_backward_overlap_scheduler", Boolean, "false"),
    unsupported("hybrid_configs.pp_configs.enable_dynamic_shape", Boolean, "false"),
    honoured("hybrid_configs.pp_configs.accumulate_steps", Integer, "1", Setting::AccumulateSteps),
    honoured("hybrid_configs.pp_configs.micro_batch_size", Integer, "1", Setting::MicroBatchSize),
    honoured("hybrid_configs.pp_configs.schedule_mode", String, "\"1F1B\"", Setting::ScheduleMode),
    honoured("hybrid_configs.pp_configs.pp_degree", Integer, "1", Setting::PpDegree),
    honoured("hybrid_configs.pp_configs.stage_starts", List, "[]", Setting::StageStarts),
    unsupported("hybrid_configs.sharding_configs.tensor_fusion", Boolean, "false"),
    honoured("hybrid_configs.sharding_configs.accumulate_steps", Integer, "1", Setting::AccumulateSteps),
    unsupported("hybrid_configs.sharding_configs.comm_overlap", Boolean, "false"),
    unsupported("hybrid_configs.sharding_configs.split_param", Boolean, "false"),
    unsupported("hybrid_configs.sharding_configs.fuse_optimizer", Boolean, "true"),
    unsupported("hybrid_configs.sharding_configs.use_reduce_avg", Boolean, "true"),
    unsupported("hybrid_configs.sharding_configs.comm_buffer_size_MB", Integer, "256"),
    unsupported("hybrid_configs.sharding_configs.release_gradients", Boolean, "false"),
    unsupported("hybrid_configs.sharding_configs.free_grads_in_comm", Boolean, "false"),
    unsupported("hybrid_configs.sharding_configs.enable_fuse_optimizer_states", Boolean, "false"),
    honoured("hybrid_configs.sharding_configs.sharding_degree", Integer, "1", Setting::ShardingDegree),
    honoured("hybrid_configs.sharding_configs.stage", Integer, "1", Setting::ShardingStage),
    unsupported("hybrid_configs.sharding_configs.gather_param_after_optimize", Boolean, "true"),
    honoured("hybrid_configs.dp_configs.dp_degree", Integer, "-1", Setting::DpDegree),
    honoured("hybrid_configs.sep_configs.sep_degree", Integer, "1", Setting::SepDegree),
    unsupported("amp_configs.init_loss_scaling", Number, "32768"),
    unsupported("amp_configs.incr_every_n_steps", Integer, "1000"),
    unsupported("amp_configs.decr_every_n_nan_or_inf", Integer, "2"),
    unsupported("amp_configs.incr_ratio", Number, "2"),
    unsupported("amp_configs.decr_ratio", Number, "0.8"),
    unsupported("amp_configs.use_dynamic_loss_scaling", Boolean, "true"),
    unsupported("amp_configs.custom_white_list", List, "[]"),
    unsupported("amp_configs.custom_black_list", List, "[]"),
    unsupported("amp_configs.custom_black_varnames", List, "[]"),
    unsupported("amp_configs.use_pure_fp16", Boolean, "false"),
    unsupported("amp_configs.use_pure_bf16", Boolean, "false"),
    unsupported("amp_configs.use_fp16_guard", Boolean, "true"),
    unsupported("amp_configs.use_optimizer_fp16", Boolean, "false"),
    honoured("gradient_merge_configs.k_steps", Integer, "1", Setting::AccumulateSteps),
    unsupported("gradient_merge_configs.avg", Boolean, "true"),
    unsupported("gradient_scale_configs.scale_strategy", String, "\"avg\""),
    unsupported("gradient_scale_configs.scale_gradient", Boolean, "false"),
    honoured("pipeline_configs.micro_batch_size", Integer, "1", Setting::MicroBatchSize),
    honoured("pipeline_configs.accumulate_steps", Integer, "1", Setting::AccumulateSteps),
    honoured("pipeline_configs.schedule_mode", String, "\"1F1B\"", Setting::ScheduleMode),
    unsupported("pipeline_configs.p2p_cache_shape", Boolean, "true"),
    unsupported("pipeline_configs.enable_partial_send_recv", Boolean, "true"),
    honoured("pipeline_configs.stage_starts", List, "[]", Setting::StageStarts),
    honoured("tensor_parallel_configs.tensor_parallel_degree", Integer, "1", Setting::MpDegree),
    unsupported("tensor_parallel_configs.tensor_init_seed", Integer, "-1"),
    unsupported("localsgd_configs.k_steps", Integer, "1"),
    unsupported("localsgd_configs.begin_step", Integer, "1"),
    noMeaning("adaptive_localsgd_configs.init_k_steps", Integer, "1", kExact),
    noMeaning("adaptive_localsgd_configs.begin_step", Integer, "1", kExact),
    noMeaning("dgc_configs.rampup_begin_step", Integer, "0", kExact),
    noMeaning("dgc_configs.rampup_step", Integer, "1", kExact),
    noMeaning("dgc_configs.sparsity", List, "[]", kExact),
    unsupported("lars_configs.lars_coeff", Number, "0.001"),
    unsupported("lars_configs.lars_weight_decay", Number, "0.0005"),
    unsupported("lars_configs.epsilon", Number, "0"),
    unsupported("lars_configs.exclude_from_weight_decay", List, "[]"),
    unsupported("lamb_configs.lamb_weight_decay", Number, "0.01"),
    unsupported("lamb_configs.exclude_from_weight_decay", List, "[]"),
    noMeaning("qat_configs.channel_wise_abs_max", Boolean, "true", kFullPrecision),
    noMeaning("qat_configs.weight_bits", Integer, "8", kFullPrecision),
    noMeaning("qat_configs.activation_bits", Integer, "8", kFullPrecision),
    noMeaning("qat_configs.not_quant_pattern", List, "[]", kFullPrecision),
    noMeaning("qat_configs.algo", String, "\"\"", kFullPrecision),
    noMeaning("a_sync_configs.k_steps", Integer, "-1", kServers),
    noMeaning("a_sync_configs.max_merge_var_num", Integer, "1", kServers),
    noMeaning("a_sync_configs.send_queue_size", Integer, "16", kServers),
    noMeaning("a_sync_configs.independent_recv_thread", Boolean, "false", kServers),
    noMeaning("a_sync_configs.min_send_grad_num_before_recv", Integer, "1", kServers),
    noMeaning("a_sync_configs.thread_pool_size", Integer, "1", kServers),
    noMeaning("a_sync_configs.send_wait_times", Integer, "1", kServers),
    noMeaning("a_sync_configs.runtime_split_send_recv", Boolean, "false", kServers),
    noMeaning("a_sync_configs.launch_barrier", Boolean, "true", kServers),
    noMeaning("a_sync_configs.heter_worker_device_guard", String, "\"cpu\"", kServers),
    noMeaning("a_sync_configs.lr_decay_steps", Integer, "10", kServers),
    noMeaning("a_sync_configs.use_ps_gpu", Integer, "0", kServers),
    noMeaning("a_sync_configs.use_gpu_graph", Integer, "0", kServers),
    noMeaning("execution_strategy.num_threads", Integer, "1", kExecutor),
    noMeaning("execution_strategy.num_iteration_per_drop_scope", Integer, "10", kExecutor),
    noMeaning("execution_strategy.num_iteration_per_run", Integer, "1", kExecutor),
    noMeaning("execution_strategy.use_thread_barrier", Boolean, "false", kExecutor),
    unsupported("build_strategy.fuse_elewise_add_act_ops", Boolean, "false"),
    unsupported("build_strategy.fuse_bn_act_ops", Boolean, "false"),
    unsupported("build_strategy.fuse_relu_depthwise_conv", Boolean, "false"),
    unsupported("build_strategy.fuse_broadcast_ops", Boolean, "false"),
    unsupported("build_strategy.fuse_all_optimizer_ops", Boolean, "false"),
    unsupported("build_strategy.enable_inplace", Boolean, "false"),
    unsupported("build_strategy.enable_backward_optimizer_op_deps", Boolean, "true"),
    unsupported("build_strategy.fuse_bn_add_act_ops", Boolean, "true"),
    unsupported("build_strategy.cache_runtime_context", Boolean, "false"),
    unsupported("build_strategy.enable_auto_fusion", Boolean, "false"),
    unsupported("build_strategy.enable_addto", Boolean, "false"),
    unsupported("build_strategy.allow_cuda_graph_capture", Boolean, "false"),
    unsupported("build_strategy.fuse_gemm_epilogue", Boolean, "false"),
    unsupported("build_strategy.fused_attention", Boolean, "false"),
    unsupported("build_strategy.fused_feedforward", Boolean, "false"),
    unsupported("build_strategy.fuse_dot_product_attention", Boolean, "false"),
    unsupported("build_strategy.fuse_resunit", Boolean, "false"),
    unsupported("build_strategy.reduce_strategy", Integer, "0"),
    unsupported("build_strategy.debug_graphviz_path", String, "\"\""),
    unsupported("build_strategy.enable_sequential_execution", Boolean, "false"),
    // paddle.distributed.Strategy of auto-parallel. Its groups that are named as switches above (amp, recompute, sharding,
    // gradient_merge, pipeline, qat) are refused there, because they are no booleans.
    unsupported("auto_mode", String, "\"semi\""),
    unsupported("gradient_scale", Boolean, "true"),
    unsupported("gradient_scale_using_allreduce_avg", Boolean, "false"),
    unsupported("use_cache", Boolean, "true"),
    unsupported("return_numpy", Boolean, "true"),
    unsupported("all_ranks", Boolean, "false"),
    unsupported("seed", Integer, "null"),
    unsupported("reinit", Boolean, "false"),
    unsupported("dp_optimization.enable", Boolean, "false"),
    unsupported("dp_optimization.fuse_all_reduce_ops", Boolean, "true"),
    unsupported("dp_optimization.fuse_grad_size_in_MB", Integer, "32"),
    unsupported("dp_optimization.overlap_comm_cacl", Boolean, "true"),
    unsupported("dp_optimization.gradient_sync_after_accumulate", Boolean, "false"),
    unsupported("mp_optimization.allreduce_matmul_grad_overlapping", Boolean, "false"),
    unsupported("mp_optimization.replace_with_c_embedding", Boolean, "false"),
    unsupported("mp_optimization.replace_with_parallel_cross_entropy", Boolean, "false"),
    unsupported("sp_optimization.enable", Boolean, "true"),
    unsupported("fused_passes.enable", Boolean, "false"),
    unsupported("fused_passes.fused_passes_list", List, "[]"),
    unsupported("fused_linear_promotion.enable", Boolean, "false"),
    unsupported("tuning.enable", Boolean, "false"),
    unsupported("tuning.profile_start_step", Integer, "1"),
    unsupported("tuning.profile_end_step", Integer, "1"),
    unsupported("tuning.run_after_tuning", Boolean, "true"),
    unsupported("tuning.debug", Boolean, "false"),
    unsupported("dataset.enable", Boolean, "false"),
    unsupported("dataset.num_shards", Integer, "1"),
};
// clang-format on

ArrayRef<StrategyKey> strategyKeys() { return kKeys; }

const StrategyKey *findStrategyKey(StringRef path) {
  const auto *it = llvm::find_if(
      kKeys, [&](const StrategyKey &key) { return key.path == path; });
  return it == std::end(kKeys) ? nullptr : it;
}

bool isStrategyGroup(StringRef path) {
  return llvm::any_of(kKeys, [&](const StrategyKey &key) {
    StringRef rest = key.path;
    return rest.consume_front(path) && rest.starts_with(".");
  });
}

} // namespace fleet
