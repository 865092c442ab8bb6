(** Functions of form (P), and merging.

    A *term* is a pair (r, c): the pole r (the true pole is -1/r) and the
    residue c.  Merging adds the values that belong to one key and drops the
    zero sums; it is used with keys r (poles) here and with keys W (logit
    matrices) in [Model]. *)

From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Merge.

Variables (A : eqType) (Z : zmodType).
Implicit Types (t : seq (A * Z)) (r : A).

Definition keys t : seq A := [seq p.1 | p <- t].

(** What belongs to the key r, all together. *)
Definition total t r : Z := \sum_(p <- t | p.1 == r) p.2.

(** Distinct keys, no zero value. *)
Definition reduced t : bool := uniq (keys t) && all (fun p => p.2 != 0) t.

Definition merge t : seq (A * Z) :=
  [seq p <- [seq (r, total t r) | r <- undup (keys t)] | p.2 != 0].

Lemma total_notin t r : r \notin keys t -> total t r = 0.
Proof.
move=> rt; rewrite /total big_seq_cond big1 // => p /andP[pt /eqP pr].
by case/negP: rt; rewrite -pr; apply: map_f.
Qed.

Lemma uniq_total t p : uniq (keys t) -> p \in t -> total t p.1 = p.2.
Proof.
elim: t => //= q t IH /andP[qt ut]; rewrite inE /total big_cons.
case/predU1P => [->|pt].
  by rewrite eqxx -/(total t q.1) total_notin // addr0.
case: eqP => [qp|_]; last exact: IH.
by case/negP: qt; rewrite qp; apply: map_f.
Qed.

Lemma keys_merge t :
  keys (merge t) = [seq r <- undup (keys t) | total t r != 0].
Proof.
rewrite /merge /keys filter_map -map_comp.
by rewrite (@eq_map _ _ _ id) ?map_id.
Qed.

Lemma merge_reduced t : reduced (merge t).
Proof.
by rewrite /reduced keys_merge filter_uniq ?undup_uniq // filter_all.
Qed.

Lemma size_merge t : (size (merge t) <= size t)%N.
Proof.
have -> : size (merge t) = size (keys (merge t)) by rewrite size_map.
rewrite keys_merge size_filter (leq_trans (count_size _ _)) //.
by rewrite (leq_trans (size_undup _)) ?size_map.
Qed.

(** A sum over the terms that is additive in the values, key by key. *)
Lemma big_total (Y : zmodType) (F : A -> Z -> Y) t (rs : seq A) :
  (forall r, F r 0 = 0) -> (forall r, {morph F r : x y / x + y}) ->
  uniq rs -> {subset keys t <= rs} ->
  \sum_(r <- rs) F r (total t r) = \sum_(p <- t) F p.1 p.2.
Proof.
move=> F0 FD urs sub.
transitivity (\sum_(r <- rs) \sum_(p <- t | p.1 == r) F p.1 p.2).
  apply: eq_bigr => r _; rewrite /total (big_morph _ (FD r) (F0 r)).
  by apply: eq_bigr => p /eqP ->.
rewrite (exchange_big_dep predT) //= big_seq [RHS]big_seq.
apply: eq_bigr => p pt; rewrite -big_filter.
rewrite (_ : [seq _ <- _ | _] = [:: p.1]) ?big_seq1 //.
rewrite (@eq_filter _ _ (pred1 p.1)) => [|r]; last by rewrite /= eq_sym.
by rewrite filter_pred1_uniq // sub // map_f.
Qed.

(** Hence it does not see merging. *)
Lemma big_merge (Y : zmodType) (F : A -> Z -> Y) t :
  (forall r, F r 0 = 0) -> (forall r, {morph F r : x y / x + y}) ->
  \sum_(p <- merge t) F p.1 p.2 = \sum_(p <- t) F p.1 p.2.
Proof.
move=> F0 FD; rewrite big_filter /= big_mkcond /= big_map /=.
rewrite -(big_total F0 FD (undup_uniq (keys t))); last first.
  by move=> r; rewrite mem_undup.
by apply: eq_bigr => r _; case: eqP => //= ->; rewrite F0.
Qed.

Lemma merge_id t : reduced t -> merge t = t.
Proof.
case/andP=> ut nz; rewrite /merge undup_id // /keys -map_comp.
rewrite (_ : [seq _ | _ <- t] = t); first by apply/all_filterP.
rewrite -[RHS]map_id; apply/eq_in_map => p pt /=.
by rewrite uniq_total //; case: p pt.
Qed.

(** As many terms as before only if nothing was merged or dropped. *)
Lemma size_merge_reduced t : (size (merge t) == size t) = reduced t.
Proof.
apply/eqP/idP => [sz|/merge_id -> //].
have szk : size (keys t) = count (fun r => total t r != 0) (undup (keys t)).
  by rewrite -size_filter -keys_merge !size_map sz.
have ut : uniq (keys t).
  by rewrite -[uniq _]negbK -ltn_size_undup -leqNgt szk count_size.
rewrite /reduced ut; apply/allP => p pt.
have /allP/(_ p.1): all (fun r => total t r != 0) (keys t).
  by rewrite all_count szk undup_id.
by rewrite uniq_total //; apply; apply: map_f.
Qed.

(** Terms are determined by their totals, up to order. *)
Lemma reduced_perm t t' :
  reduced t -> (size t' <= size t)%N -> (forall r, total t r = total t' r) ->
  perm_eq t t'.
Proof.
case/andP=> ut nz sz eq_tot.
have sub : {subset keys t <= keys t'}.
  move=> _ /mapP[p pt ->]; apply/negPn/negP => /total_notin.
  rewrite -eq_tot uniq_total // => /eqP; apply/negP; exact: (allP nz).
have [|szk kk] := uniq_min_size ut sub; first by rewrite !size_map.
have ut' : uniq (keys t') by rewrite (uniq_size_uniq ut kk) szk.
apply: uniq_perm; [exact: (map_uniq ut)|exact: (map_uniq ut')|].
have half s s' : uniq (keys s) -> uniq (keys s') -> keys s =i keys s' ->
    (forall r, total s r = total s' r) -> {subset s <= s'}.
  move=> us us' ks eqs p ps.
  have /mapP[q qs' pq]: p.1 \in keys s' by rewrite -ks map_f.
  suff -> : p = q by [].
  have := uniq_total us ps; rewrite eqs pq (uniq_total us' qs').
  by case: p q pq {ps qs'} => [a b] [a' b'] /= -> ->.
by move=> p; apply/idP/idP; apply: half => // r; rewrite ?kk ?eq_tot.
Qed.

End Merge.

Section Profile.

Variable K : fieldType.
Implicit Types (t : seq (K * K)) (x s : K).

(** Form (P): constant s, terms (r, c), as a function of x. *)
Definition profile s t x : K :=
  s + \sum_(p <- t) p.2 * (x * p.1 / (1 + x * p.1)).

(** x meets no pole of t. *)
Definition off_poles t x : bool := all (fun p => 1 + x * p.1 != 0) t.

(** No pole at infinity: there a term would be invisible. *)
Definition true_poles t : bool := all (fun p => p.1 != 0) t.

Lemma profile_merge s t x : profile s (merge t) x = profile s t x.
Proof.
rewrite /profile; congr (_ + _).
apply: (big_merge (F := fun r c => c * (x * r / (1 + x * r)))) => [r|r c c'].
  by rewrite mul0r.
by rewrite mulrDl.
Qed.

Lemma profile_0 s t : profile s t 0 = s.
Proof. by rewrite /profile big1 ?addr0 // => p _; rewrite !mul0r mulr0. Qed.

Lemma profile_perm s t t' x : perm_eq t t' -> profile s t x = profile s t' x.
Proof. by move=> tt'; rewrite /profile (perm_big _ tt'). Qed.

(** x r / (1 + x r) = 1 - 1 / (1 + x r). *)
Lemma share x r : 1 + x * r != 0 -> x * r / (1 + x * r) = 1 - (1 + x * r)^-1.
Proof.
have -> : x * r / (1 + x * r) = (1 + x * r - 1) / (1 + x * r).
  by rewrite [1 + _]addrC addrK.
by move=> nz; rewrite mulrBl divff // mul1r.
Qed.

End Profile.
