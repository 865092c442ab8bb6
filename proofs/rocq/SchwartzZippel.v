(** The Schwartz-Zippel lemma, for one and for two groups of variables, with
    coefficients in a torsion-free module over an integral domain. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import System.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Polynomials *)

Section Polynomials.

Variables (R : idomainType) (V : lmodType R) (I : finType).
Implicit Types (x : I -> R) (m : {ffun I -> nat}) (s : seq ({ffun I -> nat} * V)).

Definition monomial m x : R := \prod_i x i ^+ m i.
Definition degree m : nat := \sum_i m i.
Definition evaluate s x : V := \sum_(t <- s) monomial t.1 x *: t.2.
Definition exponent (t : {ffun I -> nat} * V) (j : I) : nat := t.1 j.

(** f is a polynomial of total degree at most a: a finite sum of monomials. *)
Definition polynomial (a : nat) (f : (I -> R) -> V) : Prop :=
  exists2 s, all (fun t => degree t.1 <= a)%N s & forall x, f x = evaluate s x.

(** The variable j, set apart. *)
Definition drop_var j m : {ffun I -> nat} := [ffun i => if i == j then 0%N else m i].
Definition slice j k s : seq ({ffun I -> nat} * V) :=
  [seq (drop_var j t.1, t.2) | t <- [seq t <- s | exponent t j == k]].

Lemma monomial_drop j m x : monomial m x = x j ^+ m j * monomial (drop_var j m) x.
Proof.
rewrite /monomial [LHS](bigD1 j) //=; congr (_ * _).
rewrite [RHS](bigD1 j) //= ffunE eqxx mul1r; apply: eq_bigr => i ij.
by rewrite ffunE (negPf ij).
Qed.

Lemma degree_drop j m : degree m = (m j + degree (drop_var j m))%N.
Proof.
rewrite /degree [LHS](bigD1 j) //=; congr (_ + _)%N.
rewrite [RHS](bigD1 j) //= ffunE eqxx add0n; apply: eq_bigr => i ij.
by rewrite ffunE (negPf ij).
Qed.

Lemma evaluate_nil x : evaluate [::] x = 0.
Proof. exact: big_nil. Qed.

Lemma evaluate_cons t s x : evaluate (t :: s) x = monomial t.1 x *: t.2 + evaluate s x.
Proof. exact: big_cons. Qed.

Lemma evaluate_slices j s n x : all (fun t => exponent t j < n)%N s ->
  evaluate s x = \sum_(k < n) x j ^+ k *: evaluate (slice j k s) x.
Proof.
elim: s => [_|t s IH /= /andP[tn sn]].
  by rewrite evaluate_nil big1 // => k _; rewrite scaler0.
rewrite evaluate_cons IH // (bigD1 (Ordinal tn)) //=.
rewrite [RHS](bigD1 (Ordinal tn)) //= addrA; congr (_ + _).
  by rewrite /slice /= eqxx /= evaluate_cons scalerDr scalerA -monomial_drop.
apply: eq_bigr => k kt; rewrite /slice /= ifN //.
by apply: contra kt => /eqP tk; apply/eqP/val_inj.
Qed.

Hypothesis tf : forall (a : R) (v : V), a *: v = 0 -> a = 0 \/ v = 0.

(** One variable: a non-zero polynomial of degree < n has fewer than n roots. *)
Lemma few_roots (G : finType) (g : G -> R) n (c : 'I_n -> V) k :
  injective g -> c k != 0 ->
  (#|[pred t | (\sum_(i < n) g t ^+ i *: c i)%R == 0%R]| < n)%N.
Proof.
move=> g_inj; rewrite ltnNge; apply: contra; set Z := [pred _ | _] => nZ.
pose t (j : 'I_n) : G := enum_val (widen_ord nZ j).
have t_inj : injective t.
  by move=> i j /enum_val_inj/(congr1 val) /= ij; apply: val_inj.
apply/eqP; move: k; apply: (@regular_system _ _ _ (\matrix_(i, j) g (t j) ^+ i)^T) => //.
  rewrite det_tr; apply/det0P => -[v nz vB]; case/eqP: nz.
  have vr : rVpoly v = 0.
    apply/eqP/negPn/negP => nzp.
    have roots : all (root (rVpoly v)) [seq g (t j) | j <- enum 'I_n].
      apply/allP => _ /mapP[j _ ->]; rewrite /root horner_poly.
      move/rowP/(_ j): vB; rewrite !mxE => vj; apply/eqP; rewrite -[RHS]vj.
      by apply: eq_bigr => i _; rewrite insubT // => ip; rewrite !mxE; congr (v _ _ * _); apply: val_inj.
    have uq : uniq [seq g (t j) | j <- enum 'I_n].
      by rewrite map_inj_uniq ?enum_uniq // => i j /g_inj/t_inj.
    have := max_poly_roots nzp roots uq.
    by rewrite size_map size_enum_ord ltnNge size_poly.
  by rewrite -[v]rVpolyK vr linear0.
move=> j; have /eqP E : t j \in Z := enum_valP _.
by rewrite -[RHS]E; apply: eq_bigr => i _; rewrite !mxE.
Qed.

(** ** Counting zeros on a grid *)

Variables (G : finType) (g : G -> R).
Hypothesis g_inj : injective g.
Implicit Types w : {ffun I -> G}.

Definition point w : I -> R := fun i => g (w i).
Definition set_var j t w : {ffun I -> G} := [ffun i => if i == j then t else w i].

(** At most n good values of one variable, whatever the others. *)
Lemma count_by_variable j (Q : pred {ffun I -> G}) n :
  (forall w, #|[pred t | Q (set_var j t w)]| <= n)%N ->
  (#|Q| * #|G| <= n * #|{: {ffun I -> G}}|)%N.
Proof.
move=> bound.
pose swap (p : {ffun I -> G} * G) := (set_var j p.2 p.1, p.1 j).
have swapK : involutive swap.
  case=> w t; rewrite /swap /= !ffunE eqxx; congr (_, _).
  by apply/ffunP => i; rewrite !ffunE; case: eqP => [->|].
have -> : (#|Q| * #|G| = \sum_(p : {ffun I -> G} * G) Q p.1)%N.
  rewrite -(pair_bigA _ (fun w (t : G) => Q w : nat)) /=.
  rewrite exchange_big sum_nat_const mulnC; congr (_ * _)%N.
  rewrite -sum1_card [LHS]big_mkcond /=; apply: eq_bigr => w _.
  by rewrite unfold_in; case: (Q w).
rewrite (reindex_inj (inv_inj swapK)) /=.
rewrite -(pair_bigA _ (fun w t => Q (set_var j t w) : nat)) /=.
rewrite mulnC -sum_nat_const; apply: leq_sum => w _.
apply: leq_trans (bound w); rewrite -sum1_card [in X in (_ <= X)%N]big_mkcond /=.
by apply: leq_sum => t _; rewrite inE; case: (Q _).
Qed.

Lemma slice_set_var j k s t w :
  evaluate (slice j k s) (point (set_var j t w)) = evaluate (slice j k s) (point w).
Proof.
rewrite /evaluate /slice !big_map; apply: eq_bigr => m _ /=; congr (_ *: _).
apply: eq_bigr => i _; rewrite /point !ffunE.
by case: eqP => // _; rewrite !expr0.
Qed.

Lemma zeros_bound (js : seq I) a s x0 :
  all (fun t => degree t.1 <= a)%N s ->
  {in s, forall t, forall i, i \notin js -> exponent t i = 0%N} -> evaluate s x0 != 0 ->
  (#|[pred w | evaluate s (point w) == 0%R]| * #|G| <= a * #|{: {ffun I -> G}}|)%N.
Proof.
elim: js a s x0 => [|j js IH] a s x0 sa sjs nz.
  have const x : evaluate s x = evaluate s x0.
    rewrite /evaluate big_seq [RHS]big_seq; apply: eq_bigr => t ts; congr (_ *: _).
    by apply: eq_bigr => i _; rewrite -[t.1 i]/(exponent t i) sjs // !expr0.
  rewrite (eq_card0 _) ?mul0n // => w; rewrite inE const; exact: negbTE.
pose P k := evaluate (slice j k s); pose F n x := \sum_(k < n) x j ^+ k *: P k x.
have sn : all (fun t => exponent t j < a.+1)%N s.
  by apply: sub_all sa => t; rewrite ltnS (degree_drop j); apply: leq_trans (leq_addr _ _).
suff FB n y : (n <= a.+1)%N -> F n y != 0 ->
    (#|[pred w | F n (point w) == 0%R]| * #|G| <= a * #|{: {ffun I -> G}}|)%N.
  rewrite (eq_card (B := [pred w | F a.+1 (point w) == 0])) => [|w].
    by apply: FB (leqnn _) _; rewrite /F -evaluate_slices //; apply: nz.
  by rewrite !inE (evaluate_slices _ sn).
elim: n y => [|n IHn] y na nzF; first by rewrite /F big_ord0 eqxx in nzF.
have := @classic_EM (exists x, P n x != 0); apply=> -[[x1 nz1]|zero]; last first.
  have Fn x : F n.+1 x = F n x.
    rewrite /F big_ord_recr /= (_ : P n x = 0) ?scaler0 ?addr0 //.
    by apply/eqP/negPn/negP => nzx; apply: zero; exists x.
  rewrite (eq_card (B := [pred w | F n (point w) == 0])) => [|w]; last by rewrite !inE Fn.
  by apply: (IHn y (ltnW na)); rewrite -Fn.
have top : (#|[pred w | P n (point w) == 0%R]| * #|G| <= (a - n) * #|{: {ffun I -> G}}|)%N.
  apply: (IH _ _ x1) => //.
    apply/allP => q /mapP[t]; rewrite mem_filter => /andP[/eqP tn ts] -> /=.
    by rewrite leq_subRL // -tn -(degree_drop j); apply: (allP sa).
  move=> q /mapP[t]; rewrite mem_filter => /andP[/eqP tn ts] -> i ijs.
  rewrite /exponent ffunE; case: (eqVneq i j) => // ij; apply: sjs => //.
  by rewrite inE negb_or ij.
have low : (#|[pred w | (P n (point w) != 0%R) && (F n.+1 (point w) == 0%R)]| * #|G|
            <= n * #|{: {ffun I -> G}}|)%N.
  apply: (@count_by_variable j) => w; have [z|nzw] := eqVneq (P n (point w)) 0.
    by rewrite (eq_card0 _) // => t; rewrite !inE /P slice_set_var -/(P n _) z eqxx.
  have := @few_roots G g n.+1 (fun k => P k (point w)) ord_max g_inj nzw.
  rewrite ltnS; apply: leq_trans; apply: subset_leq_card; apply/subsetP => t.
  rewrite !inE => /andP[_ /eqP E]; apply/eqP; rewrite -[RHS]E.
  by apply: eq_bigr => k _; rewrite /P slice_set_var /point ffunE eqxx.
rewrite -[a in (_ <= a * _)%N](@subnK n) // mulnDl.
apply: leq_trans (leq_add top low); rewrite -mulnDl leq_mul2r; apply/orP; right.
rewrite -cardUI; apply: leq_trans (leq_addr _ _); apply: subset_leq_card.
by apply/subsetP => w; rewrite !inE => ->; rewrite andbT orbN.
Qed.

End Polynomials.

(** ** Probabilities *)

(** The probability of A under the uniform distribution on a finite type. *)
Definition Pr (T : finType) (A : pred T) : rat := #|A|%:R / #|T|%:R.

Section Probability.

Variable T : finType.
Implicit Types A B : pred T.

Lemma Pr_ge0 A : 0 <= Pr A.
Proof. by rewrite divr_ge0 ?ler0n. Qed.

Lemma Pr_sub A B : subpred A B -> Pr A <= Pr B.
Proof.
move=> AB; rewrite ler_wpmul2r ?invr_ge0 ?ler0n // ler_nat.
by apply: subset_leq_card; apply/subsetP.
Qed.

Lemma Pr_union A B : Pr [predU A & B] <= Pr A + Pr B.
Proof.
rewrite -mulrDl ler_wpmul2r ?invr_ge0 ?ler0n // -natrD ler_nat -cardUI.
exact: leq_addr.
Qed.

Lemma Pr_has (C : eqType) (E : C -> pred T) (cs : seq C) (r : rat) :
  {in cs, forall c, Pr (E c) <= r} ->
  Pr [pred w | has (fun c => E c w) cs] <= (size cs)%:R * r.
Proof.
elim: cs => [_|c cs IH bound] /=; first by rewrite /Pr eq_card0 // !mul0r.
apply: le_trans (Pr_union _ _) _; rewrite -add1n natrD mulrDl mul1r.
rewrite ler_add ?bound ?mem_head // IH // => c' cs'.
by rewrite bound // inE cs' orbT.
Qed.

(** An event of probability < 1 does not always happen. *)
Lemma Pr_lt1 A : Pr A < 1 -> (0 < #|T|)%N -> exists w, ~~ A w.
Proof.
move=> lt1 T0; apply/existsP; apply: contraLR lt1; rewrite negb_exists => /forallP all.
have AT : #|A| = #|T|.
  by apply: eq_card => w; have := all w; rewrite negbK unfold_in => ->.
by rewrite /Pr AT divff ?ltxx // pnatr_eq0 -lt0n.
Qed.

End Probability.

(** Two independent draws. *)
Section Product.

Variables T T' : finType.
Hypotheses (T0 : (0 < #|T|)%N) (T'0 : (0 < #|T'|)%N).

Lemma card_fibers (E : pred (T * T')) : #|E| = (\sum_w #|[pred z | E (w, z)]|)%N.
Proof.
rewrite -sum1_card big_mkcond.
rewrite (eq_bigr (fun p => if E (p.1, p.2) then 1 else 0)%N) => [|[w z]] //.
rewrite -(pair_bigA _ (fun w z => if E (w, z) then 1 else 0)%N) /=.
by apply: eq_bigr => w _; rewrite -big_mkcond sum1_card.
Qed.

Lemma Pr_fst (A : pred T) : Pr [pred w : T * T' | A w.1] = Pr A.
Proof.
rewrite /Pr card_prod natrM; have -> : #|[pred w : T * T' | A w.1]| = (#|A| * #|T'|)%N.
  by rewrite -[#|T'|]/#|predT : pred T'| -cardX; apply: eq_card => w; rewrite !inE andbT.
by rewrite natrM -mulf_div divff ?mulr1 // pnatr_eq0 -lt0n.
Qed.

Lemma Pr_fibers (E : pred (T * T')) r :
  (forall w, Pr [pred z | E (w, z)] <= r) -> Pr E <= r.
Proof.
move=> bound; rewrite /Pr card_prod natrM ler_pdivr_mulr ?mulr_gt0 ?ltr0n //.
rewrite card_fibers natr_sum mulrCA mulr_natl -sumr_const.
by apply: ler_sum => w _; rewrite -ler_pdivr_mulr ?ltr0n // bound.
Qed.

End Product.

(** One group of variables. *)
Theorem schwartz_zippel (R : idomainType) (V : lmodType R) (I G : finType) (g : G -> R)
    a (f : (I -> R) -> V) x0 :
  (forall (a : R) (v : V), a *: v = 0 -> a = 0 \/ v = 0) -> injective g ->
  (0 < #|G|)%N -> polynomial a f -> f x0 != 0 ->
  Pr [pred w : {ffun I -> G} | f (point g w) == 0] <= a%:R / #|G|%:R.
Proof.
move=> tf g_inj G0 [s sa fs] nz; rewrite fs in nz.
have D0 : (0 < #|{: {ffun I -> G}}|)%N by rewrite card_ffun expn_gt0 G0.
rewrite /Pr ler_pdivr_mulr ?ltr0n // mulrAC ler_pdivl_mulr ?ltr0n // -!natrM ler_nat.
rewrite (eq_card (B := [pred w | evaluate s (point g w) == 0])) => [|w].
  by apply: (zeros_bound (js := enum I) tf g_inj sa _ nz) => t _ i; rewrite mem_enum.
by rewrite !inE fs.
Qed.

(** Two groups: degree at most a in x together, at most c in y together. *)
Section TwoGroups.

Variables (R : idomainType) (V : lmodType R) (I J : finType).

Definition polynomial2 (a c : nat) (f : (I -> R) -> (J -> R) -> V) : Prop :=
  exists2 s : seq ({ffun I -> nat} * {ffun J -> nat} * V),
    all (fun t => degree t.1.1 <= a)%N s && all (fun t => degree t.1.2 <= c)%N s &
    forall x y, f x y = \sum_(t <- s) (monomial t.1.1 x * monomial t.1.2 y) *: t.2.

Lemma polynomial2_left a c f y : polynomial2 a c f -> polynomial a (f^~ y).
Proof.
case=> s /andP[sa _] fs.
exists [seq (t.1.1, monomial t.1.2 y *: t.2) | t <- s]; first by rewrite all_map.
by move=> x; rewrite fs /evaluate big_map; apply: eq_bigr => t _; rewrite scalerA.
Qed.

Lemma polynomial2_right a c f x : polynomial2 a c f -> polynomial c (f x).
Proof.
case=> s /andP[_ sc] fs.
exists [seq (t.1.2, monomial t.1.1 x *: t.2) | t <- s]; first by rewrite all_map.
move=> y; rewrite fs /evaluate big_map; apply: eq_bigr => t _.
by rewrite scalerA mulrC.
Qed.

Theorem schwartz_zippel2 (G G' : finType) (g : G -> R) (g' : G' -> R) a c f x0 y0 :
  (forall (a : R) (v : V), a *: v = 0 -> a = 0 \/ v = 0) ->
  injective g -> injective g' -> (0 < #|G|)%N -> (0 < #|G'|)%N ->
  polynomial2 a c f -> f x0 y0 != 0 ->
  Pr [pred w : {ffun I -> G} * {ffun J -> G'} | f (point g w.1) (point g' w.2) == 0]
    <= a%:R / #|G|%:R + c%:R / #|G'|%:R.
Proof.
move=> tf g_inj g'_inj G0 G'0 pf nz.
pose D := [finType of {ffun I -> G}]; pose D' := [finType of {ffun J -> G'}].
have D0 : (0 < #|D|)%N by rewrite card_ffun expn_gt0 G0.
have D'0 : (0 < #|D'|)%N by rewrite card_ffun expn_gt0 G'0.
pose E1 := [pred w : D * D' | f (point g w.1) y0 == 0].
pose E2 := [pred w : D * D' | (f (point g w.1) y0 != 0) && (f (point g w.1) (point g' w.2) == 0)].
apply: le_trans (_ : Pr [predU E1 & E2] <= _).
  apply: Pr_sub => w wz; rewrite !inE [X in _ || X]andbC.
  by move: wz => /= ->; rewrite orbN.
apply: le_trans (Pr_union _ _) _; apply: ler_add.
  rewrite (Pr_fst _ [pred w | f (point g w) y0 == 0]) //.
  exact: (schwartz_zippel (x0 := x0) tf g_inj G0 (polynomial2_left y0 pf) nz).
apply: Pr_fibers => // w; have [z|nzw] := eqVneq (f (point g w) y0) 0.
  rewrite /Pr eq_card0 ?mul0r ?divr_ge0 ?ler0n // => z'.
  by rewrite !inE /= z eqxx.
apply: le_trans (_ : Pr [pred z | f (point g w) (point g' z) == 0] <= _).
  by apply: Pr_sub => z /andP[].
exact: (schwartz_zippel tf g'_inj G'0 (polynomial2_right _ pf) nzw).
Qed.

End TwoGroups.
