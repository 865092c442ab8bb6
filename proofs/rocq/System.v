(** Regular linear systems whose unknowns lie in a torsion-free module. *)

From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(** A regular homogeneous system has only the solution 0. *)
Lemma regular_system (R : idomainType) (V : lmodType R) d (B : 'M[R]_d) (x : 'I_d -> V) :
  (forall (a : R) (v : V), a *: v = 0 -> a = 0 \/ v = 0) -> \det B != 0 ->
  (forall j, \sum_p B j p *: x p = 0) -> forall p, x p = 0.
Proof.
move=> tf detB Bx p.
have : \sum_j (\adj B) p j *: (\sum_q B j q *: x q) = 0.
  by rewrite big1 // => j _; rewrite Bx scaler0.
under eq_bigr => j _ do rewrite scaler_sumr.
rewrite exchange_big (bigD1 p) //= [X in _ + X]big1 => [|q qp].
  under eq_bigr => j _ do rewrite scalerA.
  rewrite -scaler_suml addr0.
  have /matrixP/(_ p p) := mul_adj_mx B; rewrite !mxE eqxx mulr1n => ->.
  by case/tf => // /eqP; rewrite (negPf detB).
under eq_bigr => j _ do rewrite scalerA.
rewrite -scaler_suml; have /matrixP/(_ p q) := mul_adj_mx B.
by rewrite !mxE eq_sym (negPf qp) mulr0n => ->; rewrite scale0r.
Qed.

(** A field is a torsion-free module over itself. *)
Lemma field_torsion_free (K : idomainType) (a : K) (x : K^o) :
  a *: x = 0 -> a = 0 \/ x = 0.
Proof. by rewrite -[a *: x]/(a * x) => /eqP; rewrite mulf_eq0 => /orP[] /eqP; [left|right]. Qed.

(** In characteristic 0 the natural numbers are distinct. *)
Lemma natr_inj (R : idomainType) : [char R] =i pred0 -> injective (fun n => n%:R : R).
Proof.
move=> /charf0P c0; have half k l : (k <= l)%N -> k%:R = l%:R :> R -> k = l.
  move=> kl /eqP; rewrite eq_sym -subr_eq0 -natrB // c0 subn_eq0 => lk.
  by apply/eqP; rewrite eqn_leq kl.
move=> k l; case/orP: (leq_total k l) => kl E; first exact: half.
by apply/esym/half.
Qed.
