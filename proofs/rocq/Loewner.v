(** The Loewner matrix: its rank is the number of visible heads, and it is
    non-singular if and only if the poles are distinct and no residue is 0. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import Profile Interpolation.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Loewner.

Variable K : fieldType.
Implicit Types (t : seq (K * K)).

(** The number of visible heads: distinct poles with a non-zero total residue. *)
Definition visible_heads t : nat := size (merge t).

Definition cauchy m (z : 'I_m -> K) t : 'M[K]_(m, size t) :=
  \matrix_(i, h) (1 + z i * (nth (0, 0) t h).1)^-1.

(** diag(c_h r_h) *)
Definition weights t : 'M[K]_(size t) :=
  diag_mx (\row_h ((nth (0, 0) t h).2 * (nth (0, 0) t h).1)).

(** A Cauchy matrix with distinct poles, on at least as many distinct nodes,
    has independent columns. *)
Lemma cauchy_free m (z : 'I_m -> K) t :
  injective z -> uniq (keys t) -> (size t <= m)%N ->
  (forall i, off_poles t (z i)) -> row_free (cauchy z t)^T.
Proof.
move=> z_inj ut tm off; rewrite -kermx_eq0; apply/rowV0P => v /sub_kermxP vC.
pose k r := index r (keys t).
have kh (h : 'I_(size t)) : k (nth (0, 0) t h).1 = h.
  by rewrite /k -(nth_map _ 0) // index_uniq // size_map.
pose a r := if insub (k r) is Some h then v 0 h else 0.
have ah (h : 'I_(size t)) : a (nth (0, 0) t h).1 = v 0 h.
  by rewrite /a kh valK.
suff a0 : {in keys t, forall r, a r = 0}.
  apply/rowP => h; rewrite mxE -ah a0 //; apply: map_f; exact: mem_nth.
apply: (cauchy_independent (xs := [seq z i | i <- enum 'I_m])) => //.
- by rewrite map_inj_uniq ?enum_uniq.
- by rewrite (size_map z) size_enum_ord size_map.
- by move=> x r /mapP[i _ ->] /mapP[p pt ->]; apply: (allP (off i)).
move=> x /mapP[i _ ->]; rewrite big_map (big_nth (0, 0)) big_mkord.
move/rowP/(_ i): vC; rewrite !mxE => vi; rewrite -[RHS]vi.
by apply: eq_bigr => h _; rewrite ah !mxE.
Qed.

Variables (p q : nat) (x : 'I_p -> K) (y : 'I_q -> K).

(** L_ij = (F(x_i) - F(y_j)) / (x_i - y_j) *)
Definition loewner (F : K -> K) : 'M[K]_(p, q) :=
  \matrix_(i, j) ((F (x i) - F (y j)) / (x i - y j)).

(** 1/(1 + y r) - 1/(1 + x r) = (x - y) r / ((1 + x r)(1 + y r)) *)
Lemma share_difference (a b r : K) : 1 + a * r != 0 -> 1 + b * r != 0 ->
  a * r / (1 + a * r) - b * r / (1 + b * r) =
    (a - b) * (r * ((1 + a * r)^-1 * (1 + b * r)^-1)).
Proof.
move=> na nb; rewrite !share // opprB addrC addrA addrNK.
rewrite mulrA mulrBl (_ : a * r - b * r = (1 + a * r) - (1 + b * r)).
  by rewrite mulrBl mulrA mulfV // mul1r [_^-1 * _]mulrC mulrA mulfV // mul1r.
by rewrite opprD addrACA subrr add0r.
Qed.

Hypothesis xy : forall i j, x i != y j.

(** L = C . diag(c_h r_h) . C'^T *)
Theorem loewner_factors s t :
  (forall i, off_poles t (x i)) -> (forall j, off_poles t (y j)) ->
  loewner (profile s t) = cauchy x t *m weights t *m (cauchy y t)^T.
Proof.
move=> ox oy; apply/matrixP => i j; rewrite !mxE.
have nz : x i - y j != 0 by rewrite subr_eq0.
apply: (mulIf nz); rewrite mulfVK // /profile opprD addrACA subrr add0r -sumrB.
rewrite (big_nth (0, 0)) big_mkord mulr_suml; apply: eq_bigr => h _.
rewrite mul_mx_diag !mxE; set u := nth (0, 0) t h.
have ut : u \in t by apply: mem_nth.
rewrite -mulrBr share_difference; last 2 first.
- exact: (allP (ox i)).
- exact: (allP (oy j)).
by rewrite mulrCA [LHS]mulrC; congr (_ * _); rewrite [(1 + _)^-1 * (u.2 * _)]mulrC !mulrA.
Qed.

Hypotheses (x_inj : injective x) (y_inj : injective y).

(** Only the reduced form matters: merging changes no value. *)
Lemma loewner_merge s t : loewner (profile s (merge t)) = loewner (profile s t).
Proof. by apply/matrixP => i j; rewrite !mxE !profile_merge. Qed.

Lemma off_poles_merge t z : off_poles t z -> off_poles (merge t) z.
Proof.
move=> /allP off; apply/allP => u /(map_f fst); rewrite -/(keys _) keys_merge.
by rewrite mem_filter mem_undup => /andP[_ /mapP[w wt ->]]; apply: off.
Qed.

Lemma true_poles_merge t : true_poles t -> true_poles (merge t).
Proof.
move=> /allP tt; apply/allP => u /(map_f fst); rewrite -/(keys _) keys_merge.
by rewrite mem_filter mem_undup => /andP[_ /mapP[w wt ->]]; apply: tt.
Qed.

(** The rank of the Loewner matrix is the number of visible heads. *)
Theorem loewner_rank s t : true_poles t ->
  (forall i, off_poles t (x i)) -> (forall j, off_poles t (y j)) ->
  (visible_heads t <= p)%N -> (visible_heads t <= q)%N ->
  \rank (loewner (profile s t)) = visible_heads t.
Proof.
rewrite /visible_heads => tt ox oy mp mq; rewrite -loewner_merge.
have ox' i : off_poles (merge t) (x i) by apply: off_poles_merge.
have oy' i : off_poles (merge t) (y i) by apply: off_poles_merge.
rewrite loewner_factors //; have /andP[ut nz] := merge_reduced t.
rewrite mxrankMfree ?cauchy_free //.
have /mxrankMfree -> : row_free (weights (merge t)).
  rewrite row_free_unit unitmxE det_diag unitfE; apply/prodf_neq0 => h _.
  have ht : nth (0, 0) (merge t) h \in merge t by apply: mem_nth.
  rewrite mxE mulf_neq0 //; first exact: (allP nz).
  exact: (allP (true_poles_merge tt)).
by rewrite -mxrank_tr; apply/eqP; apply: cauchy_free.
Qed.

End Loewner.

(** With as many nodes of each kind as terms: the two conditions of the
    interpolation lemma are non-singularity. *)
Theorem loewner_nonsingular (K : fieldType) s (t : seq (K * K))
    (x y : 'I_(size t) -> K) :
  injective x -> injective y -> (forall i j, x i != y j) -> true_poles t ->
  (forall i, off_poles t (x i)) -> (forall j, off_poles t (y j)) ->
  (loewner x y (profile s t) \in unitmx) = reduced t.
Proof.
move=> x_inj y_inj xy tt ox oy; rewrite -row_free_unit -size_merge_reduced.
by rewrite /row_free loewner_rank ?size_merge.
Qed.
