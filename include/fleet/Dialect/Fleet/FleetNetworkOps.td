//===- FleetNetworkOps.td - Network and optimizer operations ---*- tablegen -*-===//
//
// Operations that stay whole because a fused kernel or a sharding rule knows them, and the updates of the optimizers.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETNETWORKOPS_TD
#define FLEET_DIALECT_FLEET_FLEETNETWORKOPS_TD

include "fleet/Dialect/Fleet/FleetShapeOps.td"

def Fleet_SoftmaxOp : Fleet_TensorOp<"softmax", [SameOperandsAndResultType, Fleet_ShardingRule, Fleet_Derivative,
    Fleet_CostFlops, Fleet_StructuredKernel]> {
  let summary = "exp(x - max) / sum(exp(x - max)) along the last dimension";
  let arguments = (ins Fleet_FloatTensor:$operand);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Fleet_SoftmaxGradOp : Fleet_TensorOp<"softmax_grad", [SameOperandsAndResultType, Fleet_ShardingRule, Fleet_CostFlops,
    Fleet_StructuredKernel]> {
  let summary = "Gradient of softmax: y * (grad - sum(grad * y))";
  let arguments = (ins Fleet_FloatTensor:$grad, Fleet_FloatTensor:$softmax);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = "$grad `,` $softmax attr-dict `:` type($result)";
}

class Fleet_NormOp<string mnemonic, list<Trait> traits> : Fleet_TensorOp<mnemonic, !listconcat(traits,
    [InferTypeOpAdaptor, Fleet_ShardingRule, Fleet_CostFlops, Fleet_StructuredKernel])>;

def Fleet_LayerNormOp : Fleet_NormOp<"layer_norm", [Fleet_Derivative]> {
  let summary = "(x - mean) * rstd * scale + shift over the last dimension";
  let description = [{
    `rstd = 1 / sqrt(variance + epsilon)` with the biased variance; mean and rstd (shape of the rows) are results because
    the gradient reads them.
  }];
  let arguments = (ins Fleet_FloatTensor:$operand, Fleet_FloatTensor:$scale, Fleet_FloatTensor:$shift, F64Attr:$epsilon);
  let results = (outs Fleet_FloatTensor:$result, Fleet_FloatTensor:$mean, Fleet_FloatTensor:$rstd);
  let assemblyFormat = "$operand `,` $scale `,` $shift `,` `epsilon` `=` $epsilon attr-dict `:` functional-type(operands, results)";
}

def Fleet_LayerNormGradOp : Fleet_NormOp<"layer_norm_grad", []> {
  let summary = "Gradient of layer_norm with respect to its operand";
  let description = [{
    With g = grad * scale and h = (x - mean) * rstd: `rstd * (g - mean(g) - h * mean(g * h))` (Ba et al., 2016).
  }];
  let arguments = (ins Fleet_FloatTensor:$grad, Fleet_FloatTensor:$operand, Fleet_FloatTensor:$scale,
      Fleet_FloatTensor:$mean, Fleet_FloatTensor:$rstd);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = "$grad `,` $operand `,` $scale `,` $mean `,` $rstd attr-dict `:` functional-type(operands, results)";
}

def Fleet_RmsNormOp : Fleet_NormOp<"rms_norm", [Fleet_Derivative]> {
  let summary = "x * rstd * scale over the last dimension, rstd = 1 / sqrt(mean(x^2) + epsilon)";
  let arguments = (ins Fleet_FloatTensor:$operand, Fleet_FloatTensor:$scale, F64Attr:$epsilon);
  let results = (outs Fleet_FloatTensor:$result, Fleet_FloatTensor:$rstd);
  let assemblyFormat = "$operand `,` $scale `,` `epsilon` `=` $epsilon attr-dict `:` functional-type(operands, results)";
}

def Fleet_RmsNormGradOp : Fleet_NormOp<"rms_norm_grad", []> {
  let summary = "Gradient of rms_norm with respect to its operand";
  let description = [{ With g = grad * scale and h = x * rstd: `rstd * (g - h * mean(g * h))` (Zhang and Sennrich, 2019). }];
  let arguments = (ins Fleet_FloatTensor:$grad, Fleet_FloatTensor:$operand, Fleet_FloatTensor:$scale, Fleet_FloatTensor:$rstd);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = "$grad `,` $operand `,` $scale `,` $rstd attr-dict `:` functional-type(operands, results)";
}

def Fleet_CountValidOp : Fleet_TensorOp<"count_valid", [Fleet_ShardingRule, Fleet_CostFlops, Fleet_StructuredKernel]> {
  let summary = "Number of labels that are not `ignoreIndex`, as a float scalar";
  let description = [{ Without `ignoreIndex` every label counts. The count of a step is taken over its global batch. }];
  let arguments = (ins Fleet_IntTensor:$labels, OptionalAttr<I64Attr>:$ignoreIndex);
  let results = (outs Fleet_ScalarFloat:$result);
  let assemblyFormat = "$labels (`ignore` `=` $ignoreIndex^)? attr-dict `:` type($labels) `->` type($result)";
}

def Fleet_CrossEntropyOp : Fleet_TensorOp<"cross_entropy", [InferTypeOpAdaptor, Fleet_LocalShardingRule, Fleet_Derivative,
    Fleet_CostFlops, Fleet_StructuredKernel]> {
  let summary = "Sum over the rows that count of (logsumexp(logits) - logits[label]), divided by count";
  let description = [{
    Classes are the last dimension of logits; labels have the shape of the rows. Rows whose label is `ignoreIndex` do not
    count. Without `count` (level 1) the divisor is the number of rows that count; the step gives it as an operand, taken
    over the global batch, so that micro-batches and data-parallel shares add up to the loss. `lse` is logsumexp of
    each row.
  }];
  let arguments = (ins Fleet_FloatTensor:$logits, Fleet_IntTensor:$labels, Optional<Fleet_ScalarFloat>:$count,
      OptionalAttr<I64Attr>:$ignoreIndex);
  let results = (outs Fleet_ScalarFloat:$loss, Fleet_FloatTensor:$lse);
  let assemblyFormat = [{
    $logits `,` $labels (`count` `=` $count^ `:` type($count))? (`ignore` `=` $ignoreIndex^)? attr-dict
    `:` `(` type($logits) `,` type($labels) `)` `->` `(` type($loss) `,` type($lse) `)`
  }];
}

def Fleet_CrossEntropyGradOp : Fleet_TensorOp<"cross_entropy_grad", [InferTypeOpAdaptor, Fleet_LocalShardingRule, Fleet_CostFlops,
    Fleet_StructuredKernel]> {
  let summary = "Gradient of cross_entropy: grad / count * (exp(logits - lse) - onehot(label)), 0 in rows that do not count";
  let arguments = (ins Fleet_ScalarFloat:$grad, Fleet_FloatTensor:$logits, Fleet_IntTensor:$labels, Fleet_FloatTensor:$lse,
      Fleet_ScalarFloat:$count, Optional<Fleet_ScalarInt>:$base, OptionalAttr<I64Attr>:$ignoreIndex);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = [{
    $grad `,` $logits `,` $labels `,` $lse `,` $count (`base` `=` $base^ `:` type($base))?
    (`ignore` `=` $ignoreIndex^)? attr-dict
    `:` `(` type($grad) `,` type($logits) `,` type($labels) `,` type($lse) `,` type($count) `)` `->` type($result)
  }];
}

/// Updates are element-wise in the parameter; lr and t are scalars. Hyper-parameters are attributes.
class Fleet_OptimizerOp<string mnemonic> : Fleet_TensorOp<mnemonic, [InferTypeOpAdaptor, Fleet_ShardingRule, Fleet_CostFlops,
    Fleet_StructuredKernel]>;

def Fleet_SgdOp : Fleet_OptimizerOp<"sgd"> {
  let summary = "p - lr * (g + weightDecay * p)";
  let arguments = (ins Fleet_FloatTensor:$parameter, Fleet_FloatTensor:$grad, Fleet_ScalarFloat:$lr, F64Attr:$weightDecay);
  let results = (outs Fleet_FloatTensor:$newParameter);
  let assemblyFormat = "$parameter `,` $grad `,` $lr attr-dict `:` functional-type(operands, results)";
}

def Fleet_MomentumOp : Fleet_OptimizerOp<"momentum"> {
  let summary = "v = mu v + g; p - lr v (with nesterov: p - lr (g + mu v)); g includes weightDecay * p";
  let arguments = (ins Fleet_FloatTensor:$parameter, Fleet_FloatTensor:$grad, Fleet_FloatTensor:$velocity,
      Fleet_ScalarFloat:$lr, F64Attr:$momentum, F64Attr:$weightDecay, UnitAttr:$nesterov);
  let results = (outs Fleet_FloatTensor:$newParameter, Fleet_FloatTensor:$newVelocity);
  let assemblyFormat = "$parameter `,` $grad `,` $velocity `,` $lr attr-dict `:` functional-type(operands, results)";
}

def Fleet_AdamOp : Fleet_OptimizerOp<"adam"> {
  let summary = "Adam, or AdamW with `decoupled`";
  let description = [{
    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; p - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps). The decay is
    added to g (Kingma and Ba, 2015), or with `decoupled` taken from p first: p -= lr wd p (Loshchilov and Hutter, 2019).
  }];
  let arguments = (ins Fleet_FloatTensor:$parameter, Fleet_FloatTensor:$grad, Fleet_FloatTensor:$firstMoment,
      Fleet_FloatTensor:$secondMoment, Fleet_ScalarFloat:$lr, Fleet_ScalarFloat:$t, F64Attr:$beta1, F64Attr:$beta2,
      F64Attr:$epsilon, F64Attr:$weightDecay, UnitAttr:$decoupled);
  let results = (outs Fleet_FloatTensor:$newParameter, Fleet_FloatTensor:$newFirstMoment, Fleet_FloatTensor:$newSecondMoment);
  let assemblyFormat = [{
    $parameter `,` $grad `,` $firstMoment `,` $secondMoment `,` $lr `,` $t attr-dict `:` functional-type(operands, results)
  }];
}

#endif // FLEET_DIALECT_FLEET_FLEETNETWORKOPS_TD
