(** C1-C4 are non-zero polynomials in the random tokens, and a random draw from
    a finite grid fails with small probability. *)

From mathcomp Require Import all_ssreflect all_algebra perm.
From ExactMHA Require Import System Profile Model Count Matching Conditions.
From ExactMHA Require Import SchwartzZippel.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** The coordinates of d tokens of R^d, as a matrix. *)
Definition tokens (R : Type) d (x : 'I_d * 'I_d -> R) : 'M[R]_d := \matrix_(i, j) x (i, j).

(** ** Polynomials of low degree *)

Section LowDegree.

Variables (R : idomainType) (V : lmodType R).

(** A bilinear form. *)
Lemma bilinear_polynomial (I J : finType) (c : I -> J -> V) :
  polynomial2 1 1 (fun x y => \sum_i \sum_j (x i * y j) *: c i j).
Proof.
pose one (T : finType) (k : T) : {ffun T -> nat} := [ffun i => (i == k : nat)].
have deg (T : finType) (k : T) : degree (one T k) = 1%N.
  rewrite /degree (bigD1 k) //= ffunE eqxx big1 // => i ik.
  by rewrite ffunE (negPf ik).
have mon (T : finType) (k : T) (x : T -> R) : monomial (one T k) x = x k.
  rewrite /monomial (bigD1 k) //= ffunE eqxx expr1 big1 ?mulr1 // => i ik.
  by rewrite ffunE (negPf ik) expr0.
exists [seq (one I p.1, one J p.2, c p.1 p.2) | p <- enum [finType of I * J]].
  by rewrite !all_map; apply/andP; split; apply/allP => p _ /=; rewrite deg.
move=> x y; rewrite big_map big_enum /= pair_bigA /=.
by apply: eq_bigr => p _; rewrite !mon.
Qed.

(** The determinant. *)
Lemma det_polynomial d : polynomial d (fun x : 'I_d * 'I_d -> R => \det (tokens x) : R^o).
Proof.
pose m (s : 'S_d) : {ffun 'I_d * 'I_d -> nat} := [ffun p => (s p.1 == p.2 : nat)].
have row0 (s : 'S_d) i (F : 'I_d -> nat) : (forall j, F j = (s i == j)) -> (\sum_j F j = 1)%N.
  move=> FE; rewrite (bigD1 (s i)) //= FE eqxx big1 // => j ji.
  by rewrite FE eq_sym (negPf ji).
exists [seq (m s, (-1) ^+ s : R^o) | s <- enum [finType of 'S_d]].
  rewrite all_map; apply/allP => s _ /=; rewrite /degree.
  rewrite (eq_bigr (fun p => m s (p.1, p.2))) => [|[i j]] //.
  rewrite -(pair_bigA _ (fun i j => m s (i, j))) /=.
  rewrite (eq_bigr (fun _ => 1%N)) ?sum1_card ?card_ord // => i _.
  by apply: (row0 s i) => j; rewrite ffunE.
move=> x; rewrite /evaluate big_map big_enum /=; apply: eq_bigr => s _.
rewrite [in RHS]/GRing.scale /= [RHS]mulrC; congr (_ * _).
rewrite /monomial (eq_bigr (fun p => x (p.1, p.2) ^+ m s (p.1, p.2))) => [|[i j]] //.
rewrite -(pair_bigA _ (fun i j => x (i, j) ^+ m s (i, j))) /=.
apply: eq_bigr => i _; rewrite mxE (bigD1 (s i)) //= ffunE eqxx expr1.
rewrite big1 ?mulr1 // => j ji.
by rewrite ffunE /= eq_sym (negPf ji) expr0.
Qed.

End LowDegree.

Lemma polynomial2_const_right (R : idomainType) (V : lmodType R) (I J : finType) a
    (f : (I -> R) -> V) : polynomial a f -> polynomial2 a 0 (fun x (_ : J -> R) => f x).
Proof.
case=> s sa fs; exists [seq (t.1, [ffun _ => 0%N], t.2) | t <- s].
  rewrite !all_map; apply/andP; split=> //; apply/allP => t _ /=.
  by rewrite /degree big1 // => i _; rewrite ffunE.
move=> x y; rewrite fs big_map; apply: eq_bigr => t _ /=.
rewrite (_ : monomial _ y = 1) ?mulr1 // /monomial big1 // => i _.
by rewrite ffunE expr0.
Qed.

Lemma polynomial2_const_left (R : idomainType) (V : lmodType R) (I J : finType) c
    (f : (J -> R) -> V) : polynomial c f -> polynomial2 0 c (fun (_ : I -> R) y => f y).
Proof.
case=> s sa fs; exists [seq ([ffun _ => 0%N], t.1, t.2) | t <- s].
  rewrite !all_map; apply/andP; split=> //; apply/allP => t _ /=.
  by rewrite /degree big1 // => i _; rewrite ffunE.
move=> x y; rewrite fs big_map; apply: eq_bigr => t _ /=.
rewrite (_ : monomial _ x = 1) ?mul1r // /monomial big1 // => i _.
by rewrite ffunE expr0.
Qed.

Lemma polynomial2_sum (R : idomainType) (V : lmodType R) (I J : finType) a c
    (f g : (I -> R) -> (J -> R) -> V) :
  polynomial2 a c f -> polynomial2 a c g -> polynomial2 a c (fun x y => f x y + g x y).
Proof.
case=> s /andP[sa sc] fs [t /andP[ta tc] gt]; exists (s ++ t).
  by rewrite !all_cat sa sc ta tc.
by move=> x y; rewrite fs gt big_cat.
Qed.

(** ** Each condition is a non-zero polynomial *)

Section Conditions.

Variables (R : idomainType) (K : fieldType) (V : lmodType R).
Variables (emb : {rmorphism R -> K}) (e : V -> K).
Hypothesis SE : exp_setting emb e.
Variable d' : nat.
Local Notation d := d'.+1.
Local Notation coordinates A := ('I_d * 'I_d -> A).
Implicit Types (B U : 'M[R]_d) (M : model K V d).

(** A token of a profile is a fixed combination (its shape) of the b_j, or of
    the u_i; the shapes are the tokens themselves for B = U = 1. *)
Definition combine_b B (a : token R d) : token R d := B^T *m a.
Definition combine_u U (a : token R d) : token R d := U *m a.
Definition combine B U p := (combine_b B p.1, combine_u U p.2).

Definition profile_shapes := profiles (1%:M : 'M[R]_d) 1%:M.
Definition displacement_shapes := displacements (1%:M : 'M[R]_d).
Definition sum_shapes := sums (1%:M : 'M[R]_d) 1%:M.

Lemma final_shape B j : final B j = combine_b B (final 1%:M j).
Proof. by rewrite /final /combine_b -trmx_mul -row_mul mul1mx. Qed.

Lemma disp_shape U i : disp U i = combine_u U (disp 1%:M i).
Proof. by rewrite /disp /combine_u !colE mul1mx. Qed.

Lemma combine_bD B a a' : combine_b B (a + a') = combine_b B a + combine_b B a'.
Proof. exact: mulmxDr. Qed.

Lemma combine_uD U a a' : combine_u U (a + a') = combine_u U a + combine_u U a'.
Proof. exact: mulmxDr. Qed.

Lemma profiles_shape B U : profiles B U = [seq combine B U p | p <- profile_shapes].
Proof.
rewrite /profile_shapes /profiles map_cat; congr (_ ++ _).
  rewrite /first_row /= /combine /= -!final_shape -!disp_shape map_flatten -map_comp.
  congr (_ :: flatten _); apply: eq_map => i /=.
  by rewrite /combine /= combine_uD -!final_shape -!disp_shape.
rewrite /later_rows map_flatten -map_comp; congr flatten; apply: eq_map => j /=.
rewrite map_flatten -map_comp; congr flatten; apply: eq_map => i /=.
by rewrite /combine /= combine_bD -!final_shape -!disp_shape.
Qed.

Lemma displacements_shape U :
  displacements U = [seq combine_u U a | a <- displacement_shapes].
Proof.
rewrite /displacement_shapes /displacements /= -disp_shape map_flatten -map_comp.
congr (_ :: flatten _); apply: eq_map => i /=.
by rewrite combine_uD -!disp_shape.
Qed.

Lemma sums_shape B U :
  sums B U = [seq (combine B U t.1.1, combine B U t.1.2, combine B U t.2) | t <- sum_shapes].
Proof.
rewrite /sum_shapes /sums map_cat; congr (_ ++ _).
  rewrite -map_comp; apply: eq_map => i /=.
  by rewrite /combine /= combine_uD -!final_shape -!disp_shape.
rewrite /later_sums map_flatten -map_comp; congr flatten; apply: eq_map => j /=.
rewrite -[RHS]map_comp; apply: eq_map => i /=.
by rewrite /combine /= combine_bD -!final_shape -!disp_shape.
Qed.

Lemma size_displacements U : size (displacements U) = (2 * d - 1)%N.
Proof.
rewrite /= (size_flatten_const (c := 2)) // size_others.
by rewrite !mul2n doubleS subn1.
Qed.

Lemma size_sums B U : size (sums B U) = (d ^ 2 - 1)%N.
Proof.
rewrite size_cat size_map (size_flatten_const (c := d)) => [|j]; last first.
  by rewrite size_map size_enum_ord.
by rewrite size_others -mulSn -[1%N in RHS](exp1n 2) subn_sqr subn1 addn1 mulnC.
Qed.

(** *** Values at the points used as witnesses *)

Lemma logit0r (W : 'M[V]_d) (b : token R d) : logit W b 0 = 0.
Proof. by apply: (addrI (logit W b 0)); rewrite -logitDr !addr0. Qed.

Lemma logit0l (W : 'M[V]_d) (x : token R d) : logit W 0 x = 0.
Proof. by apply: (addrI (logit W 0 x)); rewrite -logitDl !addr0. Qed.

Lemma logit_delta (W : 'M[V]_d) p q :
  logit W (delta_mx p 0 : token R d) (delta_mx q 0) = W p q.
Proof.
rewrite /logit (bigD1 p) //= [X in _ + X]big1 => [|i ip]; last first.
  by rewrite big1 // => j _; rewrite !mxE (negPf ip) mul0r scale0r.
rewrite (bigD1 q) //= [X in _ + X + _]big1 => [|j jq]; last first.
  by rewrite !mxE (negPf jq) mulr0 scale0r.
by rewrite !mxE !eqxx mulr1 scale1r !addr0.
Qed.

(** The draw with one coordinate 1 and the others 0. *)
Definition unit_draw (A : ringType) (k : 'I_d * 'I_d) : coordinates A := fun i => (i == k)%:R.

Lemma tokens_unit (A : ringType) i j : tokens (@unit_draw A (i, j)) = delta_mx i j.
Proof. by apply/matrixP => p q; rewrite !mxE. Qed.

Lemma delta_mul (A : ringType) (i j : 'I_d) (a : 'cV[A]_d) : delta_mx i j *m a = a j 0 *: delta_mx i 0.
Proof.
apply/matrixP => p q; rewrite ord1 !mxE (bigD1 j) //= !mxE !eqxx andbT.
rewrite big1 ?addr0 => [|k kj]; first by case: eqP => _; rewrite ?mul1r ?mulr1 ?mul0r ?mulr0.
by rewrite !mxE (negPf kj) andbF mul0r.
Qed.

Lemma combine_b_unit j p (a : token R d) : combine_b (tokens (unit_draw _ (j, p))) a = a j 0 *: delta_mx p 0.
Proof. by rewrite /combine_b tokens_unit trmx_delta delta_mul. Qed.

Lemma combine_u_unit q i (a : token R d) : combine_u (tokens (unit_draw _ (q, i))) a = a i 0 *: delta_mx q 0.
Proof. by rewrite /combine_u tokens_unit delta_mul. Qed.

Lemma final_unit (j k : 'I_d) : final (1%:M : 'M[R]_d) j k 0 = (j == k)%:R.
Proof. by rewrite !mxE. Qed.

Lemma disp_unit (i k : 'I_d) : disp (1%:M : 'M[R]_d) i k 0 = (k == i)%:R.
Proof. by rewrite !mxE. Qed.

(** Every shape has a coordinate 1. *)
Definition has_one (a : token R d) : Prop := exists j, a j 0 = 1.

Lemma displacement_has_one a : a \in displacement_shapes -> has_one a.
Proof.
rewrite inE => /predU1P[->|/flatten_mapP[i]]; first by exists 0; rewrite disp_unit eqxx.
rewrite mem_others !inE => i0 /orP[] /eqP ->; exists i; first by rewrite disp_unit eqxx.
by rewrite mxE !disp_unit (negPf i0) eqxx add0r.
Qed.

Lemma profile_has_one p : p \in profile_shapes -> has_one p.1 /\ has_one p.2.
Proof.
move=> pP; split; last exact/displacement_has_one/(profiles_displacement pP).
move: pP; rewrite mem_cat => /orP[/first_row_token ->|].
  by exists 0; rewrite final_unit eqxx.
case/flatten_mapP=> j; rewrite mem_others => j0 /flatten_mapP[i _].
rewrite !inE => /orP[] /eqP -> /=; exists j; first by rewrite final_unit eqxx.
by rewrite mxE !final_unit eqxx eq_sym (negPf j0) add0r.
Qed.

(** The logit of a profile is bilinear in the draws. *)
Lemma logit_polynomial (D : 'M[V]_d) (a c : token R d) :
  polynomial2 1 1 (fun x y => logit D (combine_b (tokens x) a) (combine_u (tokens y) c)).
Proof.
have [s s11 sE] := bilinear_polynomial (R := R)
  (fun i j : 'I_d * 'I_d => (a i.1 0 * c j.2 0) *: D i.2 j.1).
exists s => // x y; rewrite -sE /logit.
have sumE (T : 'I_d * 'I_d -> V) : \sum_i T i = \sum_p \sum_a T (a, p).
  rewrite exchange_big /= (pair_bigA _ (fun i j => T (i, j))) /=.
  by apply: eq_bigr => -[].
rewrite [RHS]sumE; apply: eq_bigr => p _.
under [RHS]eq_bigr => i _.
  rewrite (_ : \sum_j _ = \sum_q \sum_b (x (i, p) * y (q, b)) *: ((a i 0 * c b 0) *: D p q)); last first.
    by rewrite (pair_bigA _ (fun q b => (x (i, p) * y (q, b)) *: ((a i 0 * c b 0) *: D p q))) /=; apply: eq_bigr => -[].
  over.
rewrite exchange_big /=; apply: eq_bigr => q _; rewrite !mxE.
rewrite big_distrl /= scaler_suml; apply: eq_bigr => i _.
rewrite big_distrr /= scaler_suml; apply: eq_bigr => k _.
by rewrite !mxE scalerA mulrACA.
Qed.

(** *** C1 *)
Theorem C1_polynomial :
  polynomial d (fun x : coordinates R => \det (tokens x) : R^o) /\
  exists x : coordinates R, \det (tokens x) != 0.
Proof.
split; first exact: det_polynomial.
exists (fun i => (i.1 == i.2)%:R); rewrite (_ : tokens _ = 1%:M) ?det1 ?oner_neq0 //.
by apply/matrixP => i j; rewrite !mxE.
Qed.

(** *** C2 *)
Lemma mx_neq0 (D : 'M[V]_d) : D != 0 -> exists p q, D p q != 0.
Proof.
move=> nz; have /existsP[p /existsP[q Dpq]] : [exists p, exists q, D p q != 0].
  apply: contraLR nz; rewrite negb_exists negbK => /forallP D0.
  apply/eqP/matrixP => p q; have := D0 p; rewrite negb_exists => /forallP/(_ q).
  by rewrite negbK mxE => /eqP.
by exists p, q.
Qed.

Theorem C2_polynomial p (W W' : 'M[V]_d) : p \in profile_shapes -> W != W' ->
  let f x y := let bu := combine (tokens x) (tokens y) p in logit (W - W') bu.1 bu.2 in
  polynomial2 1 1 f /\ exists x y, f x y != 0.
Proof.
move=> pP WW f; split; first exact: logit_polynomial.
have [[j pj] [i pi]] := profile_has_one pP.
have [|r [q nz]] := @mx_neq0 (W - W'); first by rewrite subr_eq0.
exists (unit_draw R (j, r)), (unit_draw R (q, i)).
by rewrite /f /= combine_b_unit combine_u_unit pj pi !scale1r logit_delta.
Qed.

(** *** C3: the coordinates of the u_i, embedded in K, are the variables *)
Theorem C3_polynomial a (v : 'cV[K]_d) : a \in displacement_shapes -> v != 0 ->
  let f (y : coordinates K) : K^o := dotK v (tokens y *m map_mx emb a) in
  [/\ polynomial 1 f, exists y, f y != 0
    & forall y : coordinates R, dot emb v (combine_u (tokens y) a) = f (fun i => emb (y i))].
Proof.
move=> aP nz f; split.
- pose one (k : 'I_d * 'I_d) : {ffun 'I_d * 'I_d -> nat} := [ffun i => (i == k : nat)].
  exists [seq (one k, v k.1 0 * emb (a k.2 0) : K^o) | k <- enum [finType of 'I_d * 'I_d]].
    rewrite all_map; apply/allP => k _ /=; rewrite /degree (bigD1 k) //= ffunE eqxx.
    by rewrite big1 // => i ik; rewrite ffunE (negPf ik).
  move=> y; rewrite /evaluate big_map big_enum /= /f /dotK.
  rewrite (eq_bigr (fun k => y (k.1, k.2) * (v k.1 0 * emb (a k.2 0)))) => [|k _]; last first.
    rewrite -[_ *: _]/(_ * _); congr (_ * _); rewrite /monomial (bigD1 k) //= ffunE eqxx.
    by rewrite expr1 big1 ?mulr1 => [|i ik]; [case: k|rewrite ffunE (negPf ik)].
  rewrite -(pair_bigA _ (fun i j => y (i, j) * (v i 0 * emb (a j 0)))) /=.
  apply: eq_bigr => i _; rewrite mxE big_distrr /=; apply: eq_bigr => j _.
  by rewrite !mxE mulrCA.
- have [i ai] := displacement_has_one aP.
  have [q vq] : exists q, v q 0 != 0.
    apply/existsP; apply: contraLR nz; rewrite negb_exists negbK => /forallP v0.
    by apply/eqP/matrixP => q k; rewrite ord1 mxE; have := v0 q; rewrite negbK => /eqP.
  exists (unit_draw K (q, i)); rewrite /f tokens_unit delta_mul mxE ai rmorph1 scale1r.
  rewrite /dotK (bigD1 q) //= big1 => [|k kq]; last by rewrite mxE (negPf kq) mulr0.
  by rewrite mxE !eqxx mulr1 addr0.
move=> y; rewrite /f /dot map_mxM; congr (dotK v (_ *m _)).
by apply/matrixP => i j; rewrite !mxE.
Qed.

(** *** C4 *)
Definition C4_polynomial_at (t : (token R d * token R d) * (token R d * token R d) *
    (token R d * token R d)) (Wh Wg Wl : 'M[V]_d) : V :=
  logit Wh t.1.1.1 t.1.1.2 + logit Wg t.1.2.1 t.1.2.2 - logit Wl t.2.1 t.2.2.

Definition combine3 B U (t : (token R d * token R d) * (token R d * token R d) *
    (token R d * token R d)) := (combine B U t.1.1, combine B U t.1.2, combine B U t.2).

Lemma logitN (W : 'M[V]_d) (b x : token R d) : logit (- W) b x = - logit W b x.
Proof. by rewrite -sub0r logit_sub (_ : logit 0 b x = 0) ?sub0r // /logit big1 // => p _;
  rewrite big1 // => q _; rewrite mxE scaler0. Qed.

Theorem C4_polynomial t (Wh Wg Wl : 'M[V]_d) : t \in sum_shapes -> Wh != Wg ->
  let f x y := C4_polynomial_at (combine3 (tokens x) (tokens y) t) Wh Wg Wl in
  polynomial2 1 1 f /\ exists x y, f x y != 0.
Proof.
move=> tS hg f; split.
  have p1 := logit_polynomial Wh t.1.1.1 t.1.1.2.
  have p2 := logit_polynomial Wg t.1.2.1 t.1.2.2.
  have p3 := logit_polynomial (- Wl) t.2.1 t.2.2.
  have [s s11 sE] := polynomial2_sum (polynomial2_sum p1 p2) p3.
  by exists s => // x y; rewrite -sE /f /C4_polynomial_at logitN.
have D_or_D' : (Wh - Wl != 0) || (Wg - Wl != 0).
  rewrite !subr_eq0 -negb_and; apply: contra hg => /andP[/eqP -> /eqP ->].
  exact: eqxx.
move: tS; rewrite mem_cat => /orP[/mapP[i]|/flatten_mapP[j]].
  rewrite mem_others => i0 tE.
  have fE x y : f x y =
      logit (Wh - Wl) (combine_b (tokens x) (final 1%:M 0)) (combine_u (tokens y) (disp 1%:M 0)) +
      logit (Wg - Wl) (combine_b (tokens x) (final 1%:M 0)) (combine_u (tokens y) (disp 1%:M i)).
    rewrite /f tE /C4_polynomial_at /= combine_uD logitDr !logit_sub.
    by rewrite opprD addrACA.
  case/orP: D_or_D' => /mx_neq0[p [q nz]].
    exists (unit_draw R (0, p)), (unit_draw R (q, 0)); rewrite fE.
    rewrite combine_b_unit !combine_u_unit final_unit !disp_unit !eqxx [0 == i]eq_sym (negPf i0).
    by rewrite !scale1r scale0r logit0r addr0 logit_delta.
  exists (unit_draw R (0, p)), (unit_draw R (q, i)); rewrite fE.
  rewrite combine_b_unit !combine_u_unit final_unit !disp_unit !eqxx (negPf i0).
  by rewrite !scale1r scale0r logit0r add0r logit_delta.
rewrite mem_others => j0 /mapP[i _ tE].
have fE x y : f x y =
    logit (Wh - Wl) (combine_b (tokens x) (final 1%:M 0)) (combine_u (tokens y) (disp 1%:M i)) +
    logit (Wg - Wl) (combine_b (tokens x) (final 1%:M j)) (combine_u (tokens y) (disp 1%:M i)).
  rewrite /f tE /C4_polynomial_at /= combine_bD logitDl !logit_sub.
  by rewrite opprD addrACA.
case/orP: D_or_D' => /mx_neq0[p [q nz]].
  exists (unit_draw R (0, p)), (unit_draw R (q, i)); rewrite fE.
  rewrite !combine_b_unit !combine_u_unit !final_unit !disp_unit !eqxx (negPf j0).
  by rewrite !scale1r scale0r logit0l addr0 logit_delta.
exists (unit_draw R (j, p)), (unit_draw R (q, i)); rewrite fE.
rewrite !combine_b_unit !combine_u_unit !final_unit !disp_unit !eqxx [0 == j]eq_sym (negPf j0).
by rewrite !scale1r scale0r logit0l add0r logit_delta.
Qed.

(** ** C1-C4 hold if and only if none of these polynomials vanishes *)

(** Pairs of heads in different places, and the same in both orders. *)
Fixpoint pairs (A : Type) (s : seq A) : seq (A * A) :=
  if s is h :: s' then [seq (h, g) | g <- s'] ++ pairs s' else [::].
Definition ordered_pairs (A : Type) (s : seq A) : seq (A * A) :=
  pairs s ++ [seq (hg.2, hg.1) | hg <- pairs s].

Lemma size_pairs (A : Type) (s : seq A) : size (pairs s) = 'C(size s, 2).
Proof.
elim: s => // h s IH; rewrite /= size_cat size_map IH binS bin1.
by rewrite addnC.
Qed.

Lemma size_ordered_pairs (A : Type) (s : seq A) :
  size (ordered_pairs s) = (size s * (size s - 1))%N.
Proof.
rewrite size_cat size_map size_pairs addnn -muln2 (bin_ffact (size s) 2).
by rewrite ffactnS ffactn1 subn1.
Qed.

Lemma pairs_map_uniq (A T : eqType) (f : A -> T) s :
  uniq (map f s) = ~~ has (fun hg => f hg.1 == f hg.2) (pairs s).
Proof.
elim: s => //= h s ->; rewrite has_cat negb_or has_map; congr (~~ _ && _).
rewrite -has_pred1 has_map; apply: eq_has => g /=.
by rewrite eq_sym.
Qed.

Lemma mem_ordered_pairs (A : eqType) (s : seq A) h g :
  h \in s -> g \in s -> h != g -> (h, g) \in ordered_pairs s.
Proof.
have sub1 : {subset pairs s <= ordered_pairs s} by move=> x xs; rewrite mem_cat xs.
move=> hs gs hg; suff [p|p] : (h, g) \in pairs s \/ (g, h) \in pairs s.
- exact: sub1.
- by rewrite mem_cat; apply/orP; right; apply/mapP; exists (g, h).
elim: s hs gs {sub1} => // k s IH; rewrite !inE.
case/predU1P=> [hE|hs] /predU1P[E|gs].
- by rewrite hE E eqxx in hg.
- by left; rewrite hE mem_cat map_f.
- by right; rewrite E mem_cat map_f.
by case: (IH hs gs) => p; [left|right]; rewrite mem_cat p orbT.
Qed.

Lemma ordered_pairsP (A T : eqType) (f : A -> T) s h g : uniq (map f s) ->
  (h, g) \in ordered_pairs s -> [/\ h \in s, g \in s & f h != f g].
Proof.
rewrite pairs_map_uniq => /hasPn u; have sub p : p \in pairs s -> (p.1 \in s) && (p.2 \in s).
  elim: s {u} => // k s IH; rewrite mem_cat => /orP[/mapP[l ls ->]|/IH /andP[p1 p2]] /=.
    by rewrite mem_head inE ls orbT.
  by rewrite !inE p1 p2 !orbT.
rewrite mem_cat => /orP[p|/mapP[[h' g'] p [-> ->]]].
  by have /andP[hs gs] := sub _ p; split=> //; apply: (u (h, g)).
have /andP[hs gs] := sub _ p; split=> //; rewrite eq_sym; exact: (u (h', g')).
Qed.

Definition C2_list M := [seq (p, hg) | p <- profile_shapes, hg <- pairs M].
Definition C3_list M := [seq (a, h) | a <- displacement_shapes, h <- M].
Definition C4_list M := [seq (t, hgl) | t <- sum_shapes,
                          hgl <- [seq (hg, l) | hg <- ordered_pairs M, l <- M]].

Definition C2_vanishes B U c : bool :=
  let: (p, (h, g)) := c in logit ((h : head K V d).1 - (g : head K V d).1) (combine B U p).1 (combine B U p).2 == 0.
Definition C3_vanishes U c : bool :=
  let: (a, h) := c in dot emb (h : head K V d).2 (combine_u U a) == 0.
Definition C4_vanishes B U c : bool :=
  let: (t, ((h, g), l)) := c in
  C4_polynomial_at (combine3 B U t) (h : head K V d).1 (g : head K V d).1 (l : head K V d).1 == 0.

Lemma size_C2_list M : size (C2_list M) = ((2 * d ^ 2 - 1) * 'C(size M, 2))%N.
Proof. by rewrite size_allpairs size_profiles size_pairs. Qed.

Lemma size_C3_list M : size (C3_list M) = ((2 * d - 1) * size M)%N.
Proof. by rewrite size_allpairs size_displacements. Qed.

Lemma size_C4_list M : size (C4_list M) = ((d ^ 2 - 1) * (size M ^ 2 * (size M - 1)))%N.
Proof.
rewrite !size_allpairs size_sums size_ordered_pairs; congr (_ * _)%N.
by rewrite mulnAC.
Qed.

Lemma logit_pole_eq (h g : head K V d) (b u : token R d) :
  (pole e b u h == pole e b u g) = (logit (h.1 - g.1) b u == 0).
Proof. by rewrite logit_sub subr_eq0 /pole (inj_eq (exp_inj SE)). Qed.

Lemma C2E M B U : C2 e M B U = ~~ has (C2_vanishes B U) (C2_list M).
Proof.
rewrite /C2 profiles_shape all_map -all_predC; apply/allP/allP => [c2 _ /allpairsP[[p hg] [pP hgP ->]]|c2 p pP].
  have := c2 p pP; rewrite /= pairs_map_uniq => /hasPn/(_ hg hgP).
  by case: hg {pP hgP} => h g; rewrite /= logit_pole_eq.
rewrite /= pairs_map_uniq; apply/hasPn => hg hgP.
have := c2 (p, hg); rewrite /C2_list => /(_ (allpairs_f _ pP hgP)).
by case: hg {hgP} => h g; rewrite /= logit_pole_eq.
Qed.

Lemma C3E M U : C3 emb M U = ~~ has (C3_vanishes U) (C3_list M).
Proof.
rewrite /C3 displacements_shape all_map -all_predC.
apply/allP/allP => [c3 _ /allpairsP[[a h] [aP hM ->]]|c3 a aP].
  exact: (allP (c3 a aP)).
by apply/allP => h hM; apply: (c3 (a, h)); apply: allpairs_f.
Qed.

Lemma C4E M B U : canonical M -> C2 e M B U ->
  C4 e M B U = ~~ has (C4_vanishes B U) (C4_list M).
Proof.
move=> /andP[uM _] c2; rewrite /C4 sums_shape all_map -all_predC.
have mul t h g l : (pole e t.1.1.1 t.1.1.2 h * pole e t.1.2.1 t.1.2.2 g == pole e t.2.1 t.2.2 l)
    = (C4_polynomial_at t (h : head K V d).1 (g : head K V d).1 (l : head K V d).1 == 0).
  by rewrite /C4_polynomial_at subr_eq0 -(inj_eq (exp_inj SE)) (exp_D SE).
apply/allP/allP => [c4 _ /allpairsP[[t hgl] [tS + ->]]|c4 t tS].
  case/allpairsP=> -[[h g] l] [/(ordered_pairsP uM) [hM gM hg] lM ->] /=.
  rewrite -mul; apply: contra hg => E.
  by have /unique_matchP/(_ h g l hM gM lM (eqP E)) [-> _] := c4 t tS.
apply/unique_matchP => h g l hM gM lM E.
have hg : h = g.
  apply/eqP/negPn/negP => hg; have := c4 (t, ((h, g), l)).
  rewrite /= -mul E eqxx => /(_ _)/negP; apply=> //.
  apply: allpairs_f => //; apply: (allpairs_f _ _ lM).
  exact: mem_ordered_pairs.
split=> //; rewrite -hg {g gM hg} in E *.
have tB : (combine3 B U t) \in sums B U by rewrite sums_shape map_f.
have [_ _ p3] := sums_in tB.
apply: (uniq_map_inj (allP c2 _ p3)) => //; rewrite -E.
exact: (sums_multiply SE tB).
Qed.

Theorem conditions_polynomials M B U : canonical M ->
  conditions emb e M B U =
  ~~ [|| \det B == 0, \det U == 0, has (C2_vanishes B U) (C2_list M),
         has (C3_vanishes U) (C3_list M) | has (C4_vanishes B U) (C4_list M)].
Proof.
move=> cM; rewrite !negb_or -C2E -C3E /conditions /C1.
rewrite -(andbA (\det B != 0)); congr [&& _, _ & _].
by have [c2|//] := boolP (C2 e M B U); rewrite (C4E cM c2).
Qed.

(** ** The bound *)

(** A draw: indices into two grids of S and T points. *)
Variables (S T : nat) (gb : 'I_S -> R) (gu : 'I_T -> R).
Hypotheses (gb_inj : injective gb) (gu_inj : injective gu).
Hypotheses (S0 : (0 < S)%N) (T0 : (0 < T)%N).

Definition draw := [finType of {ffun 'I_d * 'I_d -> 'I_S} * {ffun 'I_d * 'I_d -> 'I_T}].
Definition drawn_B (w : draw) : 'M[R]_d := tokens (point gb w.1).
Definition drawn_U (w : draw) : 'M[R]_d := tokens (point gu w.2).

(** The polynomials vanish with small probability, each. *)
Lemma Pr_C1_B : Pr [pred w : draw | \det (drawn_B w) == 0] <= d%:R / S%:R.
Proof.
have [p1 [x0 nz]] := C1_polynomial.
rewrite (Pr_fst (T := [finType of {ffun 'I_d * 'I_d -> 'I_S}])
                _ [pred w | \det (tokens (point gb w)) == 0]); last first.
  by rewrite card_ffun expn_gt0 card_ord T0.
have := schwartz_zippel (x0 := x0) (@field_torsion_free R) gb_inj _ p1 nz.
by rewrite card_ord; apply.
Qed.

Lemma Pr_C1_U : Pr [pred w : draw | \det (drawn_U w) == 0] <= d%:R / T%:R.
Proof.
have [p1 [x0 nz]] := C1_polynomial.
have := schwartz_zippel2 (x0 := x0) (y0 := x0) (@field_torsion_free R) gb_inj gu_inj _ _
          (polynomial2_const_left _ p1) nz.
by rewrite !card_ord mul0r add0r; apply.
Qed.

Lemma Pr_C2 M c : canonical M -> c \in C2_list M ->
  Pr [pred w : draw | C2_vanishes (drawn_B w) (drawn_U w) c] <= S%:R^-1 + T%:R^-1.
Proof.
move=> /andP[uM _] /allpairsP[[p [h g]] [pP hgP ->]].
have hg : h.1 != g.1.
  by have [|_ _] := ordered_pairsP (h := h) (g := g) uM; rewrite // mem_cat hgP.
have [p1 [x0 [y0 nz]]] := C2_polynomial pP hg.
have := schwartz_zippel2 (torsion_free SE) gb_inj gu_inj _ _ p1 nz.
by rewrite !card_ord !div1r; apply.
Qed.

Lemma Pr_C3 M c : canonical M -> c \in C3_list M ->
  Pr [pred w : draw | C3_vanishes (drawn_U w) c] <= T%:R^-1.
Proof.
move=> /andP[_ nzM] /allpairsP[[a h] [aP hM ->]].
have [p1 [y0 nz] fE] := C3_polynomial aP (allP nzM h hM).
have emb_gb : injective (emb \o gb) by move=> i j /(emb_inj SE)/gb_inj.
have emb_gu : injective (emb \o gu) by move=> i j /(emb_inj SE)/gu_inj.
have := schwartz_zippel2 (x0 := y0) (@field_torsion_free K) emb_gb emb_gu _ _
          (polynomial2_const_left _ p1) nz.
rewrite !card_ord mul0r add0r div1r => bound; apply: le_trans (bound S0 T0).
by apply: Pr_sub => w; rewrite /= fE.
Qed.

Lemma Pr_C4 M c : canonical M -> c \in C4_list M ->
  Pr [pred w : draw | C4_vanishes (drawn_B w) (drawn_U w) c] <= S%:R^-1 + T%:R^-1.
Proof.
move=> /andP[uM _] /allpairsP[[t [hg l]] [tS + ->]].
case/allpairsP=> -[[h g] l'] [/(ordered_pairsP uM)[_ _ hg'] _ [-> ->]].
have [p1 [x0 [y0 nz]]] := C4_polynomial l'.1 tS hg'.
have := schwartz_zippel2 (torsion_free SE) gb_inj gu_inj _ _ p1 nz.
by rewrite !card_ord !div1r; apply.
Qed.

(** The probability that C1-C4 do not all hold is at most
    (d + (2d^2-1) H(H-1)/2 + (d^2-1) H^2(H-1)) (1/S + 1/T) + (2d-1) H/T. *)
Theorem genericity_bound M H : canonical M -> size M = H ->
  Pr [pred w : draw | ~~ conditions emb e M (drawn_B w) (drawn_U w)] <=
    (d + (2 * d ^ 2 - 1) * 'C(H, 2) + (d ^ 2 - 1) * (H ^ 2 * (H - 1)))%:R
      * (S%:R^-1 + T%:R^-1)
    + ((2 * d - 1) * H)%:R / T%:R.
Proof.
move=> cM MH.
pose E1 := [pred w : draw | \det (drawn_B w) == 0].
pose E2 := [pred w : draw | \det (drawn_U w) == 0].
pose E3 := [pred w : draw | has (C2_vanishes (drawn_B w) (drawn_U w)) (C2_list M)].
pose E4 := [pred w : draw | has (C3_vanishes (drawn_U w)) (C3_list M)].
pose E5 := [pred w : draw | has (C4_vanishes (drawn_B w) (drawn_U w)) (C4_list M)].
apply: le_trans (_ : Pr (predU E1 (predU E2 (predU E3 (predU E4 E5)))) <= _).
  by apply: Pr_sub => w /=; rewrite conditions_polynomials // negbK.
have union (A A' : pred draw) a b : Pr A <= a -> Pr A' <= b -> Pr (predU A A') <= a + b.
  by move=> Aa A'b; apply: le_trans (Pr_union _ _) (ler_add Aa A'b).
have h3 : Pr E3 <= _ := Pr_has (fun c => @Pr_C2 M c cM).
have h4 : Pr E4 <= _ := Pr_has (fun c => @Pr_C3 M c cM).
have h5 : Pr E5 <= _ := Pr_has (fun c => @Pr_C4 M c cM).
apply: le_trans (union _ _ _ _ Pr_C1_B (union _ _ _ _ Pr_C1_U
                  (union _ _ _ _ h3 (union _ _ _ _ h4 h5)))) _.
rewrite size_C2_list size_C3_list size_C4_list MH !natrD !mulrDl [d%:R * (_ + _)]mulrDr.
by rewrite -!addrA [(_ * H)%:R / _ + _]addrC.
Qed.

End Conditions.
