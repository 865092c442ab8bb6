(** The main theorem: what a transcript proves about every rival model. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import System Profile Model Interpolation Matching Conditions.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(** ** Bases determine vectors and matrices *)

Section Uniqueness.

Variables (R : idomainType) (K : fieldType) (V : lmodType R).
Variables (emb : {rmorphism R -> K}) (e : V -> K).
Hypothesis SE : exp_setting emb e.
Variable d' : nat.
Local Notation d := d'.+1.
Implicit Types (M : model K V d) (B U : 'M[R]_d).

(** The coordinates of W on two bases determine it. *)
Lemma logit_determines B U (W W' : 'M[V]_d) : C1 B U ->
  (forall j i, logit W (final B j) (disp U i) = logit W' (final B j) (disp U i)) ->
  W = W'.
Proof.
case/andP=> detB detU WW; apply/eqP; rewrite -subr_eq0; apply/eqP.
set D := W - W'; apply/matrixP => p q; rewrite [RHS]mxE.
have tf := torsion_free SE.
have half i p1 : \sum_q1 U q1 i *: D p1 q1 = 0.
  move: p1; apply: (regular_system tf detB) => j.
  transitivity (logit D (final B j) (disp U i)); last by rewrite logit_sub WW subrr.
  apply: eq_bigr => p1 _; rewrite scaler_sumr; apply: eq_bigr => q1 _.
  by rewrite !mxE scalerA.
move: q; apply: (@regular_system _ _ _ U^T) => //; first by rewrite det_tr.
move=> i; rewrite -[RHS](half i p); apply: eq_bigr => q _.
by rewrite mxE.
Qed.

(** The residues v.u_i determine v. *)
Lemma residues_determine U (v v' : 'cV[K]_d) : \det U != 0 ->
  (forall i, dot emb v (disp U i) = dot emb v' (disp U i)) -> v = v'.
Proof.
move=> detU vv; apply/eqP; rewrite -subr_eq0; apply/eqP/matrixP => p q.
rewrite ord1 [RHS]mxE; move: p.
have tf (a : K) (x : K^o) : a *: x = 0 -> a = 0 \/ x = 0.
  by move=> /eqP; rewrite scaler_eq0 => /orP[] /eqP; [left|right].
apply: (@regular_system _ [lmodType K of K^o] _ (map_mx emb U)^T) => //.
  by rewrite det_tr det_map_mx -(rmorph0 emb) (inj_eq (emb_inj SE)).
move=> i; have /eqP := vv i; rewrite -subr_eq0 => /eqP E; rewrite -[RHS]E.
rewrite -sumrB; apply: eq_bigr => p _; rewrite !mxE.
by rewrite [LHS]mulrC mulrBl.
Qed.

(** ** Transcripts *)

(** A transcript: the answer to each query. *)
Variables (n : nat) (B U : 'M[R]_d) (ans : seq (token R d) -> K).

(** The answers to the queries of profile (b, u), and the constant c, are those
    of H distinct poles with non-zero residues. *)
Record explained H c (b u : token R d) (F : seq (K * K)) : Prop := Explained {
  explained_reduced : reduced F;
  explained_size : size F = H;
  explained_true : true_poles F;
  explained_off : forall k, (k <= 2 * n)%N -> off_poles F k%:R;
  explained_answers : forall k, (0 < k <= 2 * n)%N ->
    profile c F k%:R = ans (copies k b u)
}.

(** The conditions as observed.  [found] holds the terms found for each
    profile, s the sum of the vectors read out of the first row.  Exactly H
    pairs of poles have their product in the sum profile. *)
Record certified H (found : token R d * token R d -> seq (K * K)) (s : 'cV[K]_d) : Prop :=
    Certified {
  observed_C1 : C1 B U;
  observed_first_row : forall p, p \in first_row B U ->
    explained H (ans [:: final B 0]) p.1 p.2 (found p);
  observed_sum : forall i,
    dot emb s (disp U i) = \sum_(p <- found (final B 0, disp U i)) p.2;
  observed_later_rows : forall p, p \in later_rows B U ->
    explained H (dot emb s p.1) p.1 p.2 (found p);
  observed_matches : forall t, t \in sums B U ->
    size (hits (keys (found t.1.1)) (keys (found t.1.2)) (keys (found t.2))) = H
}.

(** A rival: a canonical model with at most H heads and the same answers. *)
Definition same_answers M : Prop :=
  forall X, X \in learner_queries n B U -> output emb e M X = ans X.

Section Rival.

Variables (H : nat) (found : token R d * token R d -> seq (K * K)) (s : 'cV[K]_d).
Hypotheses (Hn : (H <= n)%N) (cert : certified H found s).

Lemma base_asked : [:: final B 0] \in learner_queries n B U.
Proof. exact: mem_head. Qed.

Lemma profile_asked p k : p \in profiles B U -> (0 < k <= 2 * n)%N ->
  copies k p.1 p.2 \in learner_queries n B U.
Proof.
move=> pB kn; rewrite inE; apply/orP; right; apply/flatten_mapP; exists p => //.
by apply: map_f; rewrite mem_iota add1n ltnS.
Qed.

Variable M : model K V d.
Hypotheses (MH : (size M <= H)%N) (MA : same_answers M).

(** In an explained profile the rival shows the terms found. *)
Lemma rival_profile p c : p \in profiles B U ->
  c = dot emb (vsum M) p.1 -> explained H c p.1 p.2 (found p) ->
  perm_eq (found p) (terms emb e M p.1 p.2).
Proof.
move=> pB cE [redF szF tF offF ansF].
have le2 k : (k <= 2 * H)%N -> (k <= 2 * n)%N.
  by move=> kH; apply: leq_trans kH _; rewrite leq_pmul2l.
have szG : (size (terms emb e M p.1 p.2) <= H)%N by rewrite size_map.
have [||] // := interpolation_lemma (s := c) (s' := c) (setting_char0 SE) redF szF szG tF
                   (true_poles_terms SE M p.1 p.2).
  by move=> k /le2 kn; rewrite offF // (off_poles_terms SE).
case=> [|k] /le2 kn; first by rewrite !profile_0.
rewrite ansF // -MA; last exact: profile_asked.
by rewrite cE -(profile_identity SE).
Qed.

Lemma rival_base : ans [:: final B 0] = dot emb (vsum M) (final B 0).
Proof. by rewrite -(output_single SE) MA // base_asked. Qed.

Lemma rival_first_row p : p \in first_row B U ->
  perm_eq (found p) (terms emb e M p.1 p.2).
Proof.
move=> pF; apply: (rival_profile _ _ (observed_first_row cert pF)).
  by rewrite mem_cat pF.
by rewrite rival_base (first_row_token pF).
Qed.

Lemma rival_vsum : vsum M = s.
Proof.
have /andP[_ detU] := observed_C1 cert.
apply: (residues_determine detU) => i; rewrite (observed_sum cert) -(sum_residues emb e _ (final B 0)).
by apply: perm_big; rewrite perm_sym; apply: rival_first_row (grid_in_first_row B U i).
Qed.

Lemma rival_profiles p : p \in profiles B U ->
  perm_eq (found p) (terms emb e M p.1 p.2).
Proof.
move=> pB; move: (pB); rewrite mem_cat => /orP[/rival_first_row //|pL].
by apply: (rival_profile pB _ (observed_later_rows cert pL)); rewrite rival_vsum.
Qed.

Lemma rival_explained p : p \in profiles B U ->
  reduced (found p) /\ size (found p) = H.
Proof.
rewrite mem_cat => /orP[/(observed_first_row cert) []|] //.
by move/(observed_later_rows cert) => [].
Qed.

Lemma rival_reduced p : p \in profiles B U -> reduced (terms emb e M p.1 p.2).
Proof.
move=> pB; have [/andP[uF nF] _] := rival_explained pB; have FM := rival_profiles pB.
apply/andP; split; first by rewrite -(perm_uniq (perm_map _ FM)).
by rewrite -(perm_all _ FM).
Qed.

Lemma rival_size : size M = H.
Proof.
have pB := grid_in_profiles B U 0 0; have [_ <-] := rival_explained pB.
by rewrite (perm_size (rival_profiles pB)) size_map.
Qed.

(** Poles tell the rival's heads apart. *)
Lemma rival_poles_uniq p : p \in profiles B U -> uniq [seq pole e p.1 p.2 h | h <- M].
Proof. by case/rival_reduced/andP; rewrite /keys -map_comp. Qed.

Lemma rival_poles_inj p : p \in profiles B U -> {in M &, injective (pole e p.1 p.2)}.
Proof. by move/rival_poles_uniq/uniq_map_inj. Qed.

Lemma rival_uniq : uniq M.
Proof. exact: (map_uniq (rival_poles_uniq (grid_in_profiles B U 0 0))). Qed.

Lemma rival_keys p : p \in profiles B U ->
  perm_eq (keys (found p)) [seq pole e p.1 p.2 h | h <- M].
Proof.
move/rival_profiles/(perm_map fst); rewrite -/(keys _) => /perm_trans; apply.
by rewrite /terms -map_comp.
Qed.

(** C4 as observed is C4, and the hits join each head with itself. *)
Lemma rival_hits t : t \in sums B U ->
  unique_match M (pole e t.1.1.1 t.1.1.2) (pole e t.1.2.1 t.1.2.2) (pole e t.2.1 t.2.2) /\
  perm_eq (hits (keys (found t.1.1)) (keys (found t.1.2)) (keys (found t.2)))
    [seq (pole e t.1.1.1 t.1.1.2 h, pole e t.1.2.1 t.1.2.2 h) | h <- M].
Proof.
move=> tS; have [p1 p2 p3] := sums_in tS.
have mul : {in M, forall h, pole e t.2.1 t.2.2 h =
                            pole e t.1.1.1 t.1.1.2 h * pole e t.1.2.1 t.1.2.2 h}.
  by move=> h _; apply: (sums_multiply SE tS).
have [E1 E2] := matching_lemma rival_uniq (rival_poles_inj p1) (rival_poles_inj p2)
                  (rival_poles_inj p3) mul (rival_keys p1) (rival_keys p2) (rival_keys p3).
rewrite (observed_matches cert tS) rival_size eqxx in E1.
by rewrite -E1; split=> //; apply: E2.
Qed.

End Rival.

(** Every head of a rival is a head of every other rival. *)
Lemma rival_sub H found s M M' : (H <= n)%N -> certified H found s ->
  (size M <= H)%N -> same_answers M -> (size M' <= H)%N -> same_answers M' ->
  {subset M <= M'}.
Proof.
move=> Hn cert MH MA M'H MA' h hM.
have terms_in p : p \in profiles B U ->
    terms emb e M p.1 p.2 =i terms emb e M' p.1 p.2.
  move=> pB r; rewrite -(perm_mem (rival_profiles Hn cert MH MA pB)).
  by rewrite -(perm_mem (rival_profiles Hn cert M'H MA' pB)).
have inj' p : p \in profiles B U -> {in M' &, injective (pole e p.1 p.2)}.
  by move=> pB; apply: (rival_poles_inj Hn cert M'H MA' pB).
have grid := grid_in_profiles B U.
have [g gM' ghE] : exists2 g, g \in M' &
    pole e (final B 0) (disp U 0) h = pole e (final B 0) (disp U 0) g.
  have : (pole e (final B 0) (disp U 0) h, dot emb h.2 (disp U 0)) \in
      terms emb e M' (final B 0) (disp U 0).
    by rewrite -(terms_in _ (grid 0 0)); apply/mapP; exists h.
  by case/mapP=> g gM' [E _]; exists g.
(* A sum profile carries the equality of poles from its first profile to its second. *)
have step t : t \in sums B U ->
    pole e t.1.1.1 t.1.1.2 h = pole e t.1.1.1 t.1.1.2 g ->
    pole e t.1.2.1 t.1.2.2 h = pole e t.1.2.1 t.1.2.2 g.
  move=> tS E; have [p1 _ _] := sums_in tS.
  have [_ dM] := rival_hits Hn cert MH MA tS.
  have [_ dM'] := rival_hits Hn cert M'H MA' tS.
  have : (pole e t.1.1.1 t.1.1.2 h, pole e t.1.2.1 t.1.2.2 h) \in
      [seq (pole e t.1.1.1 t.1.1.2 h, pole e t.1.2.1 t.1.2.2 h) | h <- M'].
    by rewrite -(perm_mem dM') (perm_mem dM); apply/mapP; exists h.
  case/mapP=> g' gM'' [E1 ->]; congr (pole e _ _ _).
  by apply: (inj' _ p1) => //; rewrite -E1.
have first i : pole e (final B 0) (disp U i) h = pole e (final B 0) (disp U i) g.
  have [->//|i0] := eqVneq i 0.
  apply: (step ((final B 0, disp U 0), (final B 0, disp U i),
                (final B 0, disp U 0 + disp U i))) => //.
  by rewrite mem_cat; apply/orP; left; apply/mapP; exists i; rewrite ?mem_others.
have all_poles j i : pole e (final B j) (disp U i) h = pole e (final B j) (disp U i) g.
  have [->//|j0] := eqVneq j 0.
  apply: (step ((final B 0, disp U i), (final B j, disp U i),
                (final B 0 + final B j, disp U i))) => //=.
  rewrite mem_cat; apply/orP; right; apply/flatten_mapP; exists j.
    by rewrite mem_others.
  by apply/mapP; exists i; rewrite ?mem_enum.
have W_eq : h.1 = g.1.
  apply: (logit_determines (observed_C1 cert)) => j i.
  exact: (exp_inj SE (all_poles j i)).
have v_eq : h.2 = g.2.
  have /andP[_ detU] := observed_C1 cert.
  apply: (residues_determine detU) => i.
  have : (pole e (final B 0) (disp U i) h, dot emb h.2 (disp U i)) \in
      terms emb e M' (final B 0) (disp U i).
    by rewrite -(terms_in _ (grid 0 i)); apply/mapP; exists h.
  case/mapP=> g' gM'' [E ->]; congr (dot emb _.2 _).
  by apply: (inj' _ (grid 0 i)) => //; rewrite -E first.
by case: h g W_eq v_eq gM' {hM ghE step first all_poles} => [W v] [W' v'] /= -> ->.
Qed.

(** What a certified transcript proves: two models with at most H canonical
    heads and these answers have the same canonical heads, H of them. *)
Theorem certified_unique H found s M M' : (H <= n)%N -> certified H found s ->
  (size (canon M) <= H)%N -> same_answers M ->
  (size (canon M') <= H)%N -> same_answers M' ->
  perm_eq (canon M) (canon M') /\ size (canon M) = H.
Proof.
move=> Hn cert MH MA M'H MA'.
have cA N : same_answers N -> same_answers (canon N).
  by move=> NA X XQ; rewrite output_canon NA.
have [cM cM'] := (cA _ MA, cA _ MA').
split; last exact: (rival_size Hn cert MH cM).
apply: uniq_perm; first exact: (rival_uniq Hn cert MH cM).
  exact: (rival_uniq Hn cert M'H cM').
move=> h; apply/idP/idP.
  exact: (rival_sub Hn cert MH cM M'H cM').
exact: (rival_sub Hn cert M'H cM' MH cM).
Qed.

End Uniqueness.

(** ** The transcript of a model *)

Section Main.

Variables (R : idomainType) (K : fieldType) (V : lmodType R).
Variables (emb : {rmorphism R -> K}) (e : V -> K).
Hypothesis SE : exp_setting emb e.
Variable d' : nat.
Local Notation d := d'.+1.
Variables (n : nat) (B U : 'M[R]_d).
Implicit Types M : model K V d.

(** C1-C4 as observed in the transcript of a model. *)
Definition observed M : Prop :=
  exists found s, certified emb n B U (output emb e M) (size M) found s.

Lemma canonical_id M : canonical M -> canon M = M.
Proof. exact: merge_id. Qed.

Lemma model_explained M p : p \in profiles B U -> conditions emb e M B U ->
  explained n (output emb e M) (size M) (dot emb (vsum M) p.1) p.1 p.2
    (terms emb e M p.1 p.2).
Proof.
move=> pB /and4P[_ c2 c3 _]; split.
- apply/andP; split; first by rewrite /keys -map_comp; apply: (allP c2).
  apply/allP => _ /mapP[h hM ->] /=; have pU := profiles_displacement pB.
  exact: (allP (allP c3 _ pU)).
- exact: size_map.
- exact: true_poles_terms SE _ _ _.
- by move=> k _; apply: off_poles_terms SE _ _ _ _.
by move=> k _; rewrite (profile_identity SE).
Qed.

(** The conditions can be observed: they hold for a model if and only if its
    transcript shows them. *)
Lemma conditions_certified M : conditions emb e M B U ->
  certified emb n B U (output emb e M) (size M)
    (fun p => terms emb e M p.1 p.2) (vsum M).
Proof.
move=> cond; have /and4P[c1 c2 _ c4] := cond; split=> //.
- move=> p pF; have -> : output emb e M [:: final B 0] = dot emb (vsum M) p.1.
    by rewrite (output_single SE) (first_row_token pF).
  by apply: model_explained => //; rewrite mem_cat pF.
- by move=> i; rewrite sum_residues.
- by move=> p pL; apply: model_explained => //; rewrite mem_cat pL orbT.
move=> t tS; have [p1 p2 p3] := sums_in tS.
have kt p : keys (terms emb e M p.1 p.2) = [seq pole e p.1 p.2 h | h <- M].
  by rewrite /keys -map_comp.
have uM p : p \in profiles B U -> uniq [seq pole e p.1 p.2 h | h <- M] by apply: (allP c2).
have inj p : p \in profiles B U -> {in M &, injective (pole e p.1 p.2)}.
  by move/uM/uniq_map_inj.
have mul : {in M, forall h, pole e t.2.1 t.2.2 h =
                            pole e t.1.1.1 t.1.1.2 h * pole e t.1.2.1 t.1.2.2 h}.
  by move=> h _; apply: (sums_multiply SE tS).
rewrite !kt; apply/eqP.
have [-> _] := matching_lemma (map_uniq (uM _ p1)) (inj _ p1) (inj _ p2) (inj _ p3) mul
                 (perm_refl _) (perm_refl _) (perm_refl _).
exact: (allP c4).
Qed.

Theorem conditions_observable M : canonical M -> (size M <= n)%N ->
  conditions emb e M B U <-> observed M.
Proof.
move=> cM Mn; split=> [/conditions_certified cert|[found [s cert]]].
  by exists (fun p => terms emb e M p.1 p.2), (vsum M).
have same : same_answers emb e n B U (output emb e M) M by [].
have red p : p \in profiles B U -> reduced (terms emb e M p.1 p.2).
  exact: (rival_reduced SE Mn cert (leqnn _) same).
apply/and4P; split; first exact: observed_C1 cert.
- apply/allP => p /red /andP[]; by rewrite /keys -map_comp.
- apply/allP => u uU; have [p pB <-] := displacement_in_profiles B uU.
  apply/allP => h hM; have /andP[_ /allP nz] := red p pB.
  by apply: (nz (pole e p.1 p.2 h, dot emb h.2 p.2)); apply/mapP; exists h.
apply/allP => t tS.
by have [] := rival_hits SE Mn cert (leqnn _) same tS.
Qed.

(** The main theorem.  Let M have H canonical heads, and let its transcript
    (n >= H; n = H when H is known) show C1-C4.  Then every model with at most H
    canonical heads and the same answers to these queries is M, up to the order
    of the canonical heads. *)
Theorem uniqueness_from_transcript M M' :
  canonical M -> (size M <= n)%N -> observed M ->
  (size (canon M') <= size M)%N ->
  (forall X, X \in learner_queries n B U -> output emb e M' X = output emb e M X) ->
  perm_eq (canon M') M.
Proof.
move=> cM Mn [found [s cert]] M'M agree; rewrite -(canonical_id cM).
have cMM : (size (canon M) <= size M)%N := size_merge M.
by have [] := certified_unique SE Mn cert M'M agree cMM (fun _ _ => erefl).
Qed.

(** The same with the conditions stated for the model. *)
Theorem main_theorem M M' :
  canonical M -> (size M <= n)%N -> conditions emb e M B U ->
  (size (canon M') <= size M)%N ->
  (forall X, X \in learner_queries n B U -> output emb e M' X = output emb e M X) ->
  perm_eq (canon M') M.
Proof.
move=> cM Mn cond; apply: uniqueness_from_transcript => //.
exact/conditions_observable.
Qed.

End Main.
