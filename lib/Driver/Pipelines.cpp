//===- Pipelines.cpp - The passes of each level ----------------*- C++ -*-===//
//
// What a job and a strategy say, as options of passes.
//
//===----------------------------------------------------------------------===//

#include "fleet/Driver/Compiler.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fleet {

static void cleanUp(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

/// Level 1: the model as imported, in the precision of the job, with its loss.
static void buildModel(const Job &job, OpPassManager &passes) {
  ConvertPrecisionOptions precision;
  precision.to = job.precision;
  passes.addPass(createConvertPrecision(precision));
  AddLossOptions loss;
  loss.kind = job.loss.kind;
  loss.output = job.loss.output;
  loss.labels = job.loss.labels;
  loss.allCount = !job.loss.ignoreIndex;
  loss.ignoreIndex = job.loss.ignoreIndex.value_or(-100);
  loss.shift = job.loss.shift;
  passes.addPass(createAddLoss(loss));
  cleanUp(passes);
}

/// Level 2: the whole training step.
static void buildStep(const Job &job, OpPassManager &passes) {
  if (job.strategy.mp > 1)
    passes.addPass(createSplitParameters());
  AutodiffOptions autodiff;
  autodiff.frozen.assign(job.frozen.begin(), job.frozen.end());
  passes.addPass(createAutodiff(autodiff));
  cleanUp(passes);
  // Micro-batches before clipping: the norm is that of the summed gradients.
  GradientMergeOptions merge;
  merge.microBatches = job.accumulate;
  passes.addPass(createGradientMerge(merge));
  ClipOptions clip;
  clip.globalNorm = job.clip.globalNorm;
  clip.epsilon = job.clip.epsilon;
  passes.addPass(createClip(clip));
  OptimizerOptions optimizer;
  optimizer.name = job.optimizer.name;
  optimizer.momentum = job.optimizer.momentum;
  optimizer.nesterov = job.optimizer.nesterov;
  optimizer.beta1 = job.optimizer.beta1;
  optimizer.beta2 = job.optimizer.beta2;
  optimizer.epsilon = job.optimizer.eps;
  optimizer.weightDecay = job.optimizer.weightDecay;
  optimizer.keepGradients = true;
  passes.addPass(createOptimizer(optimizer));
  cleanUp(passes);
}

/// Level 3: mesh, shardings, stages.
static void buildPlan(const Job &job, OpPassManager &passes) {
  const Strategy &s = job.strategy;
  ApplyStrategyOptions strategy;
  strategy.dp = s.dp;
  strategy.pp = s.pp;
  strategy.sharding = s.sharding;
  strategy.sep = s.sep;
  strategy.mp = s.mp;
  strategy.order.assign(s.order.begin(), s.order.end());
  for (auto &[name, sharding] : job.shardings)
    strategy.pins.push_back(name + "=" + sharding);
  passes.addPass(createApplyStrategy(strategy));
  passes.addPass(createPropagateSharding());
  SplitStagesOptions stages;
  stages.starts.assign(s.stageStarts.begin(), s.stageStarts.end());
  passes.addPass(createSplitStages(stages));
}

/// Level 4: local programs of tasks.
static void buildLocal(const Job &job, OpPassManager &passes) {
  passes.addPass(createPartition());
  cleanUp(passes);
  passes.addPass(createOutlineTasks());
  // Buckets after tasks exist: a bucket never reaches over the border of a task.
  if (job.strategy.fuseAllReduce) {
    FuseCollectivesOptions fuse;
    fuse.bucketBytes = job.strategy.fuseSizeMB << 20;
    passes.addPass(createFuseCollectives(fuse));
  }
}

/// Level 5: actions as data, proven and placed.
static void buildRank(const Job &job, OpPassManager &passes) {
  ScheduleOptions schedule;
  schedule.mode = job.strategy.scheduleMode;
  passes.addPass(createSchedule(schedule));
  passes.addPass(createVerifySchedule());
  passes.addPass(createPlanMemory());
}

void buildPipeline(Level level, const Job &job, OpPassManager &passes) {
  switch (level) {
  case Level::Model:
    return buildModel(job, passes);
  case Level::Step:
    return buildStep(job, passes);
  case Level::Plan:
    return buildPlan(job, passes);
  case Level::Local:
    return buildLocal(job, passes);
  case Level::Rank:
    return buildRank(job, passes);
  }
}

} // namespace fleet
