(** The number and the length of the learner's queries, stage by stage. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import Profile Model.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope nat_scope.

Section Count.

Variables (R : idomainType) (d' : nat).
Local Notation d := d'.+1.
Variables (n : nat) (B U : 'M[R]_d).

Lemma size_others : size (others d') = d'.
Proof.
rewrite /others enum_ordSl /= filter_map size_map (_ : filter _ _ = enum 'I_d').
  by rewrite size_enum_ord.
by apply/all_filterP/allP => i _.
Qed.

Lemma size_flatten_const (A T : Type) (f : A -> seq T) c (s : seq A) :
  (forall x, size (f x) = c) -> size (flatten (map f s)) = c * size s.
Proof.
by move=> fc; elim: s => [|x s IH]; rewrite ?muln0 //= size_cat fc IH mulnS.
Qed.

(** The profiles of the stages: 1, then (d-1) + (d-1) in the first row, then
    d(d-1) + d(d-1) in the later rows. *)
Lemma size_first_row : size (first_row B U) = 1 + d' + d'.
Proof.
by rewrite /= (size_flatten_const (c := 2)) // size_others mul2n -addnn.
Qed.

Lemma size_later_rows : size (later_rows B U) = d * d' + d * d'.
Proof.
rewrite (size_flatten_const (c := 2 * d)) ?size_others; last first.
  by move=> j; rewrite (size_flatten_const (c := 2)) // size_enum_ord.
by rewrite -mulnA mul2n -addnn.
Qed.

Lemma size_profiles : size (profiles B U) = 2 * d ^ 2 - 1.
Proof.
rewrite size_cat size_first_row size_later_rows.
rewrite (_ : 2 * d ^ 2 = 1 + d' + d' + (d * d' + d * d') + 1) ?addnK //.
by rewrite -[d]addn1 expnS expn1; ring.
Qed.

(** The sum over the stages of the page [query-count]. *)
Theorem query_count_stages :
  size (learner_queries n B U) =
    1 + 2 * n + 2 * n * d' + 2 * n * d' + 2 * n * (d * d') + 2 * n * (d * d').
Proof.
rewrite -[LHS]/(size (flatten [seq profile_queries n p | p <- profiles B U])).+1.
rewrite (size_flatten_const (c := 2 * n)); last first.
  by move=> p; rewrite size_map size_iota.
rewrite size_cat size_first_row size_later_rows; ring.
Qed.

Theorem query_count : size (learner_queries n B U) = 4 * n * d ^ 2 - 2 * n + 1.
Proof.
rewrite query_count_stages.
rewrite (_ : 4 * n * d ^ 2 = 2 * n * (1 + d' + d' + d * d' + d * d') + 2 * n).
  by rewrite addnK; ring.
by rewrite -[d]addn1 expnS expn1; ring.
Qed.

Theorem query_length X :
  X \in learner_queries n B U -> 1 <= size X <= 2 * n + 1.
Proof.
rewrite inE => /predU1P[-> /=|/flatten_mapP[p _ /mapP[k]]].
  by rewrite addn1.
rewrite mem_iota => /andP[k0 kn] ->.
by rewrite size_rcons size_nseq addn1 ltnS; move: kn; rewrite add1n ltnS.
Qed.

Theorem query_length_attained :
  0 < n -> exists2 X, X \in learner_queries n B U & size X = 2 * n + 1.
Proof.
move=> n0; exists (copies (2 * n) (final B ord0) (disp U ord0)); last first.
  by rewrite size_rcons size_nseq addn1.
rewrite inE; apply/orP; right; apply/flatten_mapP.
exists (final B ord0, disp U ord0); first by rewrite inE eqxx.
apply/mapP; exists (2 * n) => //.
by rewrite mem_iota muln_gt0 n0 add1n ltnS leqnn.
Qed.

End Count.
