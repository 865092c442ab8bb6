(** The exact rational field: logits are integer combinations of the logarithms
    of pairwise coprime integers, and e maps exponents to their monomial. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import Model.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Pairwise coprime integers > 1 are multiplicatively independent. *)
Section Independence.

Variables (n : nat) (g : 'I_n -> nat).
Hypothesis g_gt1 : forall j, (1 < g j)%N.
Hypothesis g_coprime : forall i j, i != j -> coprime (g i) (g j).

Lemma logn_product p (a : 'I_n -> nat) :
  logn p (\prod_j g j ^ a j) = (\sum_j a j * logn p (g j))%N.
Proof.
have gt0 j : (0 < g j ^ a j)%N by rewrite expn_gt0 (ltnW (g_gt1 j)).
suff /andP[_ /eqP] : (0 < \prod_j g j ^ a j)%N &&
    (logn p (\prod_j g j ^ a j) == \sum_j a j * logn p (g j))%N by [].
apply: (big_rec2 (fun x y => (0 < x)%N && (logn p x == y)%N)) => [|j x y _ /andP[x0 /eqP <-]].
  by rewrite logn1 eqxx.
by rewrite muln_gt0 gt0 x0 lognM // lognX eqxx.
Qed.

Lemma base_independent (a b : 'I_n -> nat) :
  (\prod_j g j ^ a j = \prod_j g j ^ b j)%N -> a =1 b.
Proof.
move=> ab j; pose p := pdiv (g j); have pp : prime p := pdiv_prime (g_gt1 j).
have only (c : 'I_n -> nat) : logn p (\prod_i g i ^ c i) = (c j * logn p (g j))%N.
  rewrite logn_product (bigD1 j) //= big1 ?addn0 // => i ij.
  rewrite (@logn_coprime p) ?muln0 //.
  by apply: coprime_dvdl (pdiv_dvd _) _; rewrite g_coprime // eq_sym.
have := only a; rewrite ab only => /eqP.
rewrite eqn_pmul2r => [/eqP -> //|].
by rewrite logn_gt0 mem_primes pp (ltnW (g_gt1 j)) pdiv_dvd.
Qed.

(** The exponential: e(x) = prod_j g_j ^ x_j. *)
Definition monomial_exp (x : 'rV[int]_n) : rat := \prod_j (g j)%:R ^ x 0 j.

Lemma base_neq0 j : (g j)%:R != 0 :> rat.
Proof. by rewrite pnatr_eq0 -lt0n ltnW. Qed.

Lemma monomial_exp_gt0 x : 0 < monomial_exp x.
Proof. by apply: prodr_gt0 => j _; rewrite exprz_gt0 // ltr0n ltnW. Qed.

Lemma monomial_expD x y : monomial_exp (x + y) = monomial_exp x * monomial_exp y.
Proof.
rewrite -big_split; apply: eq_bigr => j _.
by rewrite mxE expfzDr // base_neq0.
Qed.

Lemma monomial_exp_inj : injective monomial_exp.
Proof.
move=> x y E; pose pos (z : int) : nat := if z is Posz k then k else 0%N.
have posE (z : int) : z = (pos z)%:Z - (pos (- z))%:Z.
  by case: z => [[|k]|k] //; rewrite /= ?subr0 // sub0r.
have split z : monomial_exp z * (\prod_j g j ^ pos (- z ord0 j)%R)%:R = (\prod_j g j ^ pos (z ord0 j))%:R.
  rewrite !natr_prod -big_split; apply: eq_bigr => j _ /=.
  rewrite !natrX -[_ ^+ pos (- _)]/(_ ^ (Posz _)) -[RHS]/(_ ^ (Posz _)) -expfzDr ?base_neq0 //.
  by rewrite {1}(posE (z 0 j)) addrNK.
have : (\prod_j g j ^ (pos (x ord0 j) + pos (- y ord0 j)%R) =
        \prod_j g j ^ (pos (y ord0 j) + pos (- x ord0 j)%R))%N.
  rewrite (eq_bigr _ (fun j _ => expnD (g j) _ _)) [RHS](eq_bigr _ (fun j _ => expnD (g j) _ _)).
  rewrite !big_split /=; apply/eqP.
  rewrite -(eqr_nat [numDomainType of rat]) !natrM -!split E.
  by rewrite mulrAC.
move/base_independent => pq; apply/rowP => j; apply/eqP; rewrite -subr_eq0.
rewrite {1}(posE (x 0 j)) {1}(posE (y 0 j)) opprB addrACA -opprD -!PoszD pq.
by rewrite [X in _ - X%:Z]addnC subrr.
Qed.

(** The setting of the theorems over the field of rational numbers. *)
Theorem rational_setting : exp_setting [rmorphism of (intr : int -> rat)] monomial_exp.
Proof.
split.
- exact: intr_inj.
- move=> a x ax; have [->|a0] := eqVneq a 0; [by left|right].
  apply/rowP => j; move/rowP/(_ j): ax; rewrite !mxE => /eqP.
  by rewrite mulf_eq0 (negPf a0) => /eqP.
- by rewrite /monomial_exp big1 // => j _; rewrite mxE expr0z.
- exact: monomial_expD.
- exact: monomial_exp_inj.
move=> k x; rewrite gt_eqF // ltr_spaddl // mulr_ge0 ?ler0n //.
exact/ltW/monomial_exp_gt0.
Qed.

(** The logarithm of g_j. *)
Lemma monomial_exp_delta j : monomial_exp (delta_mx 0 j) = (g j)%:R.
Proof.
rewrite /monomial_exp (bigD1 j) //= big1 => [|i ij]; last by rewrite mxE (negPf ij).
by rewrite mxE !eqxx mulr1.
Qed.

End Independence.
