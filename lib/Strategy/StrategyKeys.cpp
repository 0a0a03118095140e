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

static constexpr KeyType kBoolean = KeyType::Boolean;
static constexpr KeyType kInteger = KeyType::Integer;
static constexpr KeyType kNumber = KeyType::Number;
static constexpr KeyType kString = KeyType::String;
static constexpr KeyType kList = KeyType::List;
static constexpr KeyType kObject = KeyType::Object;

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
    {"ignored", kList, "[]", KeyUse::Report},
    unsupported("mode", kString, "\"COLLECTIVE\""),
    unsupported("amp", kBoolean, "false"),
    unsupported("recompute", kBoolean, "false"),
    unsupported("localsgd", kBoolean, "false"),
    noMeaning("dgc", kBoolean, "false", kExact),
    honoured("gradient_merge", kBoolean, "false", Setting::GradientMergeSwitch),
    unsupported("lars", kBoolean, "false"),
    unsupported("lamb", kBoolean, "false"),
    honoured("pipeline", kBoolean, "false", Setting::PipelineSwitch),
    unsupported("elastic", kBoolean, "false"),
    unsupported("auto", kBoolean, "false"),
    noMeaning("a_sync", kBoolean, "true", kServers),
    unsupported("sync_nccl_allreduce", kBoolean, "true"),
    unsupported("nccl_comm_num", kInteger, "1"),
    unsupported("use_hierarchical_allreduce", kBoolean, "false"),
    unsupported("hierarchical_allreduce_inter_nranks", kInteger, "1"),
    unsupported("sync_batch_norm", kBoolean, "false"),
    honoured("fuse_all_reduce_ops", kBoolean, "true", Setting::FuseAllReduce),
    honoured("fuse_grad_size_in_MB", kInteger, "32", Setting::FuseSizeMB),
    unsupported("fuse_grad_size_in_TFLOPS", kNumber, "50"),
    noMeaning("cudnn_exhaustive_search", kBoolean, "false", kCudnn),
    noMeaning("conv_workspace_size_limit", kInteger, "512", kCudnn),
    noMeaning("cudnn_batchnorm_spatial_persistent", kBoolean, "false", kCudnn),
    noMeaning("adaptive_localsgd", kBoolean, "false", kExact),
    unsupported("fp16_allreduce", kBoolean, "false"),
    honoured("sharding", kBoolean, "false", Setting::ShardingSwitch),
    unsupported("last_comm_group_size_MB", kNumber, "1"),
    noMeaning("find_unused_parameters", kBoolean, "false", kUnused),
    honoured("tensor_parallel", kBoolean, "false", Setting::TensorParallelSwitch),
    noMeaning("without_graph_optimization", kBoolean, "true", kExecutor),
    unsupported("fuse_grad_size_in_num", kInteger, "8"),
    unsupported("calc_comm_same_stream", kBoolean, "false"),
    noMeaning("asp", kBoolean, "false", kFullPrecision),
    unsupported("fuse_grad_merge", kBoolean, "false"),
    unsupported("semi_auto", kBoolean, "false"),
    noMeaning("adam_d2sum", kBoolean, "false", kServers),
    unsupported("auto_search", kBoolean, "false"),
    noMeaning("heter_ccl_mode", kBoolean, "false", kOneVendor),
    noMeaning("is_fl_ps_mode", kBoolean, "false", kServers),
    noMeaning("with_coordinator", kBoolean, "false", kServers),
    noMeaning("qat", kBoolean, "false", kFullPrecision),
    unsupported("split_data", kBoolean, "true"),
    noMeaning("downpour_table_param", kList, "[]", kServers),
    noMeaning("fs_client_param", kObject, "{}", kServers),
    noMeaning("trainer_desc_configs", kObject, "{}", kServers),
    unsupported("save_steps", kInteger, "0"),
    unsupported("save_dir", kString, "\"\""),
    unsupported("resume", kString, "\"\""),
    unsupported("recompute_configs.checkpoints", kList, "[]"),
    unsupported("recompute_configs.enable_offload", kBoolean, "false"),
    unsupported("recompute_configs.checkpoint_shape", kList, "[]"),
    unsupported("recompute_configs.enable_tuning", kBoolean, "false"),
    unsupported("recompute_configs.refined_ops_patterns", kList, "[]"),
    unsupported("sharding_configs.sharding_segment_strategy", kString, "\"segment_broadcast_MB\""),
    unsupported("sharding_configs.segment_broadcast_MB", kNumber, "32"),
    unsupported("sharding_configs.segment_anchors", kList, "[]"),
    honoured("sharding_configs.sharding_degree", kInteger, "8", Setting::ShardingDegree),
    honoured("sharding_configs.mp_degree", kInteger, "1", Setting::MpDegree),
    honoured("sharding_configs.dp_degree", kInteger, "1", Setting::DpDegree),
    honoured("sharding_configs.pp_degree", kInteger, "1", Setting::PpDegree),
    unsupported("sharding_configs.hybrid_dp", kBoolean, "false"),
    honoured("sharding_configs.gradient_merge_acc_step", kInteger, "1", Setting::AccumulateSteps),
    unsupported("sharding_configs.optimize_offload", kBoolean, "false"),
    unsupported("sharding_configs.pp_allreduce_in_optimize", kBoolean, "false"),
    unsupported("sharding_configs.optimize_cast", kBoolean, "false"),
    unsupported("sharding_configs._dp_as_optimizer_sharding", kBoolean, "false"),
    honoured("sharding_configs.stage", kInteger, "1", Setting::ShardingStage),
    unsupported("sharding_configs.enable_tuning", kBoolean, "false"),
    unsupported("sharding_configs.use_calc_stream", kBoolean, "false"),
    honoured("hybrid_configs.dp_degree", kInteger, "-1", Setting::DpDegree),
    honoured("hybrid_configs.mp_degree", kInteger, "1", Setting::MpDegree),
    honoured("hybrid_configs.pp_degree", kInteger, "1", Setting::PpDegree),
    honoured("hybrid_configs.sharding_degree", kInteger, "1", Setting::ShardingDegree),
    honoured("hybrid_configs.sep_degree", kInteger, "1", Setting::SepDegree),
    honoured("hybrid_configs.order", kList, "[\"dp\", \"pp\", \"sharding\", \"sep\", \"mp\"]", Setting::Order),
    unsupported("hybrid_configs.enable_optimizer_timer", kBoolean, "false"),
    unsupported("hybrid_configs.gather_param_after_optimize", kBoolean, "true"),
    unsupported("hybrid_configs.mp_configs.sync_param", kBoolean, "true"),
    unsupported("hybrid_configs.mp_configs.sync_grad", kBoolean, "false"),
    unsupported("hybrid_configs.mp_configs.sync_moment", kBoolean, "false"),
    unsupported("hybrid_configs.mp_configs.sync_mode", kString, "\"broadcast\""),
    unsupported("hybrid_configs.mp_configs.mp_async_allreduce", kBoolean, "false"),
    unsupported("hybrid_configs.mp_configs.mp_skip_c_identity", kBoolean, "false"),
    unsupported("hybrid_configs.mp_configs.mp_fused_linear_param_grad_add", kBoolean, "false"),
    unsupported("hybrid_configs.mp_configs.need_broadcast_data", kBoolean, "true"),
    unsupported("hybrid_configs.mp_configs.recompute_allgather", kBoolean, "false"),
    unsupported("hybrid_configs.mp_configs.sp_async_reduce_scatter", kBoolean, "false"),
    unsupported("hybrid_configs.mp_configs.sync_param_name", kList, "[]"),
    honoured("hybrid_configs.mp_configs.mp_degree", kInteger, "1", Setting::MpDegree),
    unsupported("hybrid_configs.pp_configs.dp_comm_overlap", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.sharding_comm_overlap", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.delay_scale_loss", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.enable_timer", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.profiling", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.release_gradients", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.overlap_p2p_comm", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.clear_every_step_cache", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.use_batch_p2p_comm", kBoolean, "true"),
    unsupported("hybrid_configs.pp_configs.best_unbalanced_scheduler", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.use_dualpipev", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.forward_backward_overlap_scheduler", kBoolean, "false"),
    unsupported("hybrid_configs.pp_configs.enable_dynamic_shape", kBoolean, "false"),
    honoured("hybrid_configs.pp_configs.accumulate_steps", kInteger, "1", Setting::AccumulateSteps),
    honoured("hybrid_configs.pp_configs.micro_batch_size", kInteger, "1", Setting::MicroBatchSize),
    honoured("hybrid_configs.pp_configs.schedule_mode", kString, "\"1F1B\"", Setting::ScheduleMode),
    honoured("hybrid_configs.pp_configs.pp_degree", kInteger, "1", Setting::PpDegree),
    honoured("hybrid_configs.pp_configs.stage_starts", kList, "[]", Setting::StageStarts),
    unsupported("hybrid_configs.sharding_configs.tensor_fusion", kBoolean, "false"),
    honoured("hybrid_configs.sharding_configs.accumulate_steps", kInteger, "1", Setting::AccumulateSteps),
    unsupported("hybrid_configs.sharding_configs.comm_overlap", kBoolean, "false"),
    unsupported("hybrid_configs.sharding_configs.split_param", kBoolean, "false"),
    unsupported("hybrid_configs.sharding_configs.fuse_optimizer", kBoolean, "true"),
    unsupported("hybrid_configs.sharding_configs.use_reduce_avg", kBoolean, "true"),
    unsupported("hybrid_configs.sharding_configs.comm_buffer_size_MB", kInteger, "256"),
    unsupported("hybrid_configs.sharding_configs.release_gradients", kBoolean, "false"),
    unsupported("hybrid_configs.sharding_configs.free_grads_in_comm", kBoolean, "false"),
    unsupported("hybrid_configs.sharding_configs.enable_fuse_optimizer_states", kBoolean, "false"),
    honoured("hybrid_configs.sharding_configs.sharding_degree", kInteger, "1", Setting::ShardingDegree),
    honoured("hybrid_configs.sharding_configs.stage", kInteger, "1", Setting::ShardingStage),
    unsupported("hybrid_configs.sharding_configs.gather_param_after_optimize", kBoolean, "true"),
    honoured("hybrid_configs.dp_configs.dp_degree", kInteger, "-1", Setting::DpDegree),
    honoured("hybrid_configs.sep_configs.sep_degree", kInteger, "1", Setting::SepDegree),
    unsupported("amp_configs.init_loss_scaling", kNumber, "32768"),
    unsupported("amp_configs.incr_every_n_steps", kInteger, "1000"),
    unsupported("amp_configs.decr_every_n_nan_or_inf", kInteger, "2"),
    unsupported("amp_configs.incr_ratio", kNumber, "2"),
    unsupported("amp_configs.decr_ratio", kNumber, "0.8"),
    unsupported("amp_configs.use_dynamic_loss_scaling", kBoolean, "true"),
    unsupported("amp_configs.custom_white_list", kList, "[]"),
    unsupported("amp_configs.custom_black_list", kList, "[]"),
    unsupported("amp_configs.custom_black_varnames", kList, "[]"),
    unsupported("amp_configs.use_pure_fp16", kBoolean, "false"),
    unsupported("amp_configs.use_pure_bf16", kBoolean, "false"),
    unsupported("amp_configs.use_fp16_guard", kBoolean, "true"),
    unsupported("amp_configs.use_optimizer_fp16", kBoolean, "false"),
    honoured("gradient_merge_configs.k_steps", kInteger, "1", Setting::AccumulateSteps),
    unsupported("gradient_merge_configs.avg", kBoolean, "true"),
    unsupported("gradient_scale_configs.scale_strategy", kString, "\"avg\""),
    unsupported("gradient_scale_configs.scale_gradient", kBoolean, "false"),
    honoured("pipeline_configs.micro_batch_size", kInteger, "1", Setting::MicroBatchSize),
    honoured("pipeline_configs.accumulate_steps", kInteger, "1", Setting::AccumulateSteps),
    honoured("pipeline_configs.schedule_mode", kString, "\"1F1B\"", Setting::ScheduleMode),
    unsupported("pipeline_configs.p2p_cache_shape", kBoolean, "true"),
    unsupported("pipeline_configs.enable_partial_send_recv", kBoolean, "true"),
    honoured("pipeline_configs.stage_starts", kList, "[]", Setting::StageStarts),
    honoured("tensor_parallel_configs.tensor_parallel_degree", kInteger, "1", Setting::MpDegree),
    unsupported("tensor_parallel_configs.tensor_init_seed", kInteger, "-1"),
    unsupported("localsgd_configs.k_steps", kInteger, "1"),
    unsupported("localsgd_configs.begin_step", kInteger, "1"),
    noMeaning("adaptive_localsgd_configs.init_k_steps", kInteger, "1", kExact),
    noMeaning("adaptive_localsgd_configs.begin_step", kInteger, "1", kExact),
    noMeaning("dgc_configs.rampup_begin_step", kInteger, "0", kExact),
    noMeaning("dgc_configs.rampup_step", kInteger, "1", kExact),
    noMeaning("dgc_configs.sparsity", kList, "[]", kExact),
    unsupported("lars_configs.lars_coeff", kNumber, "0.001"),
    unsupported("lars_configs.lars_weight_decay", kNumber, "0.0005"),
    unsupported("lars_configs.epsilon", kNumber, "0"),
    unsupported("lars_configs.exclude_from_weight_decay", kList, "[]"),
    unsupported("lamb_configs.lamb_weight_decay", kNumber, "0.01"),
    unsupported("lamb_configs.exclude_from_weight_decay", kList, "[]"),
    noMeaning("qat_configs.channel_wise_abs_max", kBoolean, "true", kFullPrecision),
    noMeaning("qat_configs.weight_bits", kInteger, "8", kFullPrecision),
    noMeaning("qat_configs.activation_bits", kInteger, "8", kFullPrecision),
    noMeaning("qat_configs.not_quant_pattern", kList, "[]", kFullPrecision),
    noMeaning("qat_configs.algo", kString, "\"\"", kFullPrecision),
    noMeaning("a_sync_configs.k_steps", kInteger, "-1", kServers),
    noMeaning("a_sync_configs.max_merge_var_num", kInteger, "1", kServers),
    noMeaning("a_sync_configs.send_queue_size", kInteger, "16", kServers),
    noMeaning("a_sync_configs.independent_recv_thread", kBoolean, "false", kServers),
    noMeaning("a_sync_configs.min_send_grad_num_before_recv", kInteger, "1", kServers),
    noMeaning("a_sync_configs.thread_pool_size", kInteger, "1", kServers),
    noMeaning("a_sync_configs.send_wait_times", kInteger, "1", kServers),
    noMeaning("a_sync_configs.runtime_split_send_recv", kBoolean, "false", kServers),
    noMeaning("a_sync_configs.launch_barrier", kBoolean, "true", kServers),
    noMeaning("a_sync_configs.heter_worker_device_guard", kString, "\"cpu\"", kServers),
    noMeaning("a_sync_configs.lr_decay_steps", kInteger, "10", kServers),
    noMeaning("a_sync_configs.use_ps_gpu", kInteger, "0", kServers),
    noMeaning("a_sync_configs.use_gpu_graph", kInteger, "0", kServers),
    noMeaning("execution_strategy.num_threads", kInteger, "1", kExecutor),
    noMeaning("execution_strategy.num_iteration_per_drop_scope", kInteger, "10", kExecutor),
    noMeaning("execution_strategy.num_iteration_per_run", kInteger, "1", kExecutor),
    noMeaning("execution_strategy.use_thread_barrier", kBoolean, "false", kExecutor),
    unsupported("build_strategy.fuse_elewise_add_act_ops", kBoolean, "false"),
    unsupported("build_strategy.fuse_bn_act_ops", kBoolean, "false"),
    unsupported("build_strategy.fuse_relu_depthwise_conv", kBoolean, "false"),
    unsupported("build_strategy.fuse_broadcast_ops", kBoolean, "false"),
    unsupported("build_strategy.fuse_all_optimizer_ops", kBoolean, "false"),
    unsupported("build_strategy.enable_inplace", kBoolean, "false"),
    unsupported("build_strategy.enable_backward_optimizer_op_deps", kBoolean, "true"),
    unsupported("build_strategy.fuse_bn_add_act_ops", kBoolean, "true"),
    unsupported("build_strategy.cache_runtime_context", kBoolean, "false"),
    unsupported("build_strategy.enable_auto_fusion", kBoolean, "false"),
    unsupported("build_strategy.enable_addto", kBoolean, "false"),
    unsupported("build_strategy.allow_cuda_graph_capture", kBoolean, "false"),
    unsupported("build_strategy.fuse_gemm_epilogue", kBoolean, "false"),
    unsupported("build_strategy.fused_attention", kBoolean, "false"),
    unsupported("build_strategy.fused_feedforward", kBoolean, "false"),
    unsupported("build_strategy.fuse_dot_product_attention", kBoolean, "false"),
    unsupported("build_strategy.fuse_resunit", kBoolean, "false"),
    unsupported("build_strategy.reduce_strategy", kInteger, "0"),
    unsupported("build_strategy.debug_graphviz_path", kString, "\"\""),
    unsupported("build_strategy.enable_sequential_execution", kBoolean, "false"),
    // paddle.distributed.Strategy of auto-parallel. Its groups that are named as switches above (amp, recompute, sharding,
    // gradient_merge, pipeline, qat) are refused there, because they are no booleans.
    unsupported("auto_mode", kString, "\"semi\""),
    unsupported("gradient_scale", kBoolean, "true"),
    unsupported("gradient_scale_using_allreduce_avg", kBoolean, "false"),
    unsupported("use_cache", kBoolean, "true"),
    unsupported("return_numpy", kBoolean, "true"),
    unsupported("all_ranks", kBoolean, "false"),
    unsupported("seed", kInteger, "null"),
    unsupported("reinit", kBoolean, "false"),
    unsupported("dp_optimization.enable", kBoolean, "false"),
    unsupported("dp_optimization.fuse_all_reduce_ops", kBoolean, "true"),
    unsupported("dp_optimization.fuse_grad_size_in_MB", kInteger, "32"),
    unsupported("dp_optimization.overlap_comm_cacl", kBoolean, "true"),
    unsupported("dp_optimization.gradient_sync_after_accumulate", kBoolean, "false"),
    unsupported("mp_optimization.allreduce_matmul_grad_overlapping", kBoolean, "false"),
    unsupported("mp_optimization.replace_with_c_embedding", kBoolean, "false"),
    unsupported("mp_optimization.replace_with_parallel_cross_entropy", kBoolean, "false"),
    unsupported("sp_optimization.enable", kBoolean, "true"),
    unsupported("fused_passes.enable", kBoolean, "false"),
    unsupported("fused_passes.fused_passes_list", kList, "[]"),
    unsupported("fused_linear_promotion.enable", kBoolean, "false"),
    unsupported("tuning.enable", kBoolean, "false"),
    unsupported("tuning.profile_start_step", kInteger, "1"),
    unsupported("tuning.profile_end_step", kInteger, "1"),
    unsupported("tuning.run_after_tuning", kBoolean, "true"),
    unsupported("tuning.debug", kBoolean, "false"),
    unsupported("dataset.enable", kBoolean, "false"),
    unsupported("dataset.num_shards", kInteger, "1"),
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
