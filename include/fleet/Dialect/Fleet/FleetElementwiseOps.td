//===- FleetElementwiseOps.td - Element-wise operations --------*- tablegen -*-===//
//
// One body per element; equal shapes everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETELEMENTWISEOPS_TD
#define FLEET_DIALECT_FLEET_FLEETELEMENTWISEOPS_TD

include "fleet/Dialect/Fleet/FleetAttrs.td"

class Fleet_UnaryOp<string mnemonic, string what, list<Trait> traits = []>
    : Fleet_TensorOp<mnemonic, !listconcat([SameOperandsAndResultType, Fleet_ShardingRule, Fleet_Derivative,
        Fleet_Cost, Fleet_BodyKernel], traits)> {
  let summary = what;
  let arguments = (ins Fleet_FloatTensor:$operand);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class Fleet_BinaryOp<string mnemonic, string what, list<Trait> traits = [], Type type = Fleet_NumberTensor>
    : Fleet_TensorOp<mnemonic, !listconcat([SameOperandsAndResultType, Fleet_ShardingRule, Fleet_Derivative,
        Fleet_Cost, Fleet_BodyKernel], traits)> {
  let summary = what;
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Fleet_NegOp : Fleet_UnaryOp<"neg", "Negation">;
def Fleet_ExpOp : Fleet_UnaryOp<"exp", "Natural exponential">;
def Fleet_LogOp : Fleet_UnaryOp<"log", "Natural logarithm">;
def Fleet_SqrtOp : Fleet_UnaryOp<"sqrt", "Square root">;
def Fleet_RsqrtOp : Fleet_UnaryOp<"rsqrt", "1 / sqrt(x)">;
def Fleet_ReciprocalOp : Fleet_UnaryOp<"reciprocal", "1 / x">;
def Fleet_TanhOp : Fleet_UnaryOp<"tanh", "Hyperbolic tangent">;
def Fleet_ErfOp : Fleet_UnaryOp<"erf", "Error function">;
def Fleet_SigmoidOp : Fleet_UnaryOp<"sigmoid", "1 / (1 + exp(-x))">;
def Fleet_ReluOp : Fleet_UnaryOp<"relu", "max(x, 0); the derivative at 0 is 0">;
def Fleet_SinOp : Fleet_UnaryOp<"sin", "Sine">;
def Fleet_CosOp : Fleet_UnaryOp<"cos", "Cosine">;
def Fleet_AbsOp : Fleet_UnaryOp<"abs", "Absolute value; the derivative at 0 is 0">;

def Fleet_GeluOp : Fleet_UnaryOp<"gelu", "Gaussian error linear unit"> {
  let description = [{
    `x * Phi(x)`, exact with erf, or with `tanh` the approximation
    `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))` (Hendrycks and Gimpel, 2016).
  }];
  let arguments = (ins Fleet_FloatTensor:$operand, UnitAttr:$tanh);
}

def Fleet_GeluGradOp : Fleet_TensorOp<"gelu_grad", [SameOperandsAndResultType, Fleet_ShardingRule, Fleet_Cost,
    Fleet_BodyKernel]> {
  let summary = "Gradient of gelu: grad * gelu'(x)";
  let arguments = (ins Fleet_FloatTensor:$grad, Fleet_FloatTensor:$operand, UnitAttr:$tanh);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = "$grad `,` $operand attr-dict `:` type($result)";
}

def Fleet_AddOp : Fleet_BinaryOp<"add", "Sum of two tensors", [Commutative]> { let hasFolder = 1; }
def Fleet_SubOp : Fleet_BinaryOp<"sub", "Difference">;
def Fleet_MulOp : Fleet_BinaryOp<"mul", "Product", [Commutative]> { let hasFolder = 1; }
def Fleet_DivOp : Fleet_BinaryOp<"div", "Quotient; of integers towards zero"> { let hasFolder = 1; }
def Fleet_PowOp : Fleet_BinaryOp<"pow", "lhs to the power of rhs; the derivative goes to lhs alone", [], Fleet_FloatTensor>;
def Fleet_MaxOp : Fleet_BinaryOp<"max", "Larger of two; the derivative of equals goes to lhs", [Commutative]>;
def Fleet_MinOp : Fleet_BinaryOp<"min", "Smaller of two; the derivative of equals goes to lhs", [Commutative]>;

class Fleet_LogicOp<string mnemonic, string what> : Fleet_TensorOp<mnemonic, [SameOperandsAndResultType, Commutative,
    Fleet_ShardingRule, Fleet_Cost, Fleet_BodyKernel]> {
  let summary = what;
  let arguments = (ins Fleet_BoolTensor:$lhs, Fleet_BoolTensor:$rhs);
  let results = (outs Fleet_BoolTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Fleet_AndOp : Fleet_LogicOp<"and", "Logical and">;
def Fleet_OrOp : Fleet_LogicOp<"or", "Logical or">;

def Fleet_NotOp : Fleet_TensorOp<"not", [SameOperandsAndResultType, Fleet_ShardingRule, Fleet_Cost, Fleet_BodyKernel]> {
  let summary = "Logical negation";
  let arguments = (ins Fleet_BoolTensor:$operand);
  let results = (outs Fleet_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Fleet_CompareOp : Fleet_TensorOp<"compare", [SameTypeOperands, SameOperandsAndResultShape, Fleet_ShardingRule, Fleet_Cost,
    Fleet_BodyKernel, InferTypeOpAdaptor]> {
  let summary = "Comparison, element by element";
  let description = [{ Ordered comparison: false where an operand is NaN, except `ne`, which is true. }];
  let arguments = (ins Fleet_PredicateAttr:$predicate, Fleet_Tensor:$lhs, Fleet_Tensor:$rhs);
  let results = (outs Fleet_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Fleet_SelectOp : Fleet_TensorOp<"select", [AllShapesMatch<["condition", "onTrue", "onFalse", "result"]>,
    AllTypesMatch<["onTrue", "onFalse", "result"]>, Fleet_ShardingRule, Fleet_Derivative, Fleet_Cost, Fleet_BodyKernel]> {
  let summary = "Takes onTrue where the condition holds, else onFalse";
  let arguments = (ins Fleet_BoolTensor:$condition, Fleet_Tensor:$onTrue, Fleet_Tensor:$onFalse);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($condition) `,` type($result)";
}

def Fleet_CastOp : Fleet_TensorOp<"cast", [SameOperandsAndResultShape, Fleet_ShardingRule, Fleet_Derivative, Fleet_Cost,
    Fleet_BodyKernel]> {
  let summary = "Conversion of the element type";
  let description = [{ Float to integer truncates towards zero; number to i1 is `x != 0`. }];
  let arguments = (ins Fleet_Tensor:$operand);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Fleet_SumOp : Fleet_TensorOp<"sum", [SameOperandsAndResultType, Fleet_ShardingRule, Fleet_Derivative, Fleet_CostFlops,
    Fleet_BodyKernel]> {
  let summary = "Sum of any number of tensors, from left to right";
  let description = [{
    Gradients of a value with several uses, and terms of a norm. When the operands belong to different pipeline stages the
    stages exchange them.
  }];
  let arguments = (ins Variadic<Fleet_FloatTensor>:$terms);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = "$terms attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // FLEET_DIALECT_FLEET_FLEETELEMENTWISEOPS_TD
