(** What an accepted certificate proves: the main theorem for its transcript. *)

From Coq Require Import ZArith QArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import System Profile Model Count Matching Conditions.
From ExactMHA Require Import Uniqueness Transfer Rational Certificate.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(** ** Lists that compute, and what they mean *)

Lemma zsumE (R : ringType) n f : zR R (zsum n f) = \sum_(i < n) zR R (f i).
Proof.
rewrite -(big_mkord predT (fun i => zR R (f i))) /index_iota subn0 /zsum.
by elim: (iota 0 n) => [|i s IH]; rewrite ?big_nil //= zR_add IH big_cons.
Qed.

Lemma qsumE (K : fieldType) n f : [char K] =i pred0 ->
  qK K (qsum n f) = \sum_(i < n) qK K (f i).
Proof.
move=> c0; rewrite -(big_mkord predT (fun i => qK K (f i))) /index_iota subn0 /qsum.
elim: (iota 0 n) => [|i s IH]; first by rewrite big_nil qK_integer.
by rewrite /= qK_add // IH big_cons.
Qed.

Lemma eqvP x y : reflect (x = y) (eqv x y).
Proof.
apply: (iffP idP) => [|<-]; last by elim: x => //= a x ->; rewrite Z.eqb_refl.
by elim: x y => [|a x IH] [|b y] //= /andP[/Z.eqb_eq -> /IH ->].
Qed.

Lemma has_eqvP x xs : reflect (exists2 i, (i < size xs)%N & x = nth [::] xs i) (has (eqv x) xs).
Proof.
apply: (iffP (has_nthP [::])) => -[i ixs]; first by move/eqvP; exists i.
by exists i => //; apply/eqvP.
Qed.

Lemma distinctP xs i j : distinct xs -> (i < size xs)%N -> (j < size xs)%N ->
  nth [::] xs i = nth [::] xs j -> i = j.
Proof.
elim: xs i j => [|x xs IH] [|i] [|j] //= /andP[nx dx]; rewrite ?ltnS => ixs jxs E.
- by case/has_eqvP: nx; exists j.
- by case/has_eqvP: nx; exists i.
by rewrite (IH i j).
Qed.

Lemma all_iotaP (P : pred nat) m n :
  reflect (forall i, (m <= i < m + n)%N -> P i) (all P (iota m n)).
Proof.
by apply: (iffP allP) => all i; [rewrite -mem_iota; apply: all|rewrite mem_iota; apply: all].
Qed.

Lemma mapP_nth (A : Type) (T : eqType) (f : A -> T) (s : seq A) x0 y :
  y \in map f s -> exists2 i, (i < size s)%N & y = f (nth x0 s i).
Proof. by case/(nthP (f x0)) => i; rewrite size_map => i_s <-; exists i; rewrite ?(nth_map x0). Qed.

Section Soundness.

Variable c : certificate.
Local Notation d' := (dim_minus_1 c).
Local Notation d := d'.+1.
Local Notation G := (rank c).
Local Notation H := (heads c).
Local Notation n := (told c).

Variables (R : idomainType) (K : fieldType) (V : lmodType R).
Variables (emb : {rmorphism R -> K}) (e : V -> K).
Hypothesis SE : exp_setting emb e.

(** [unit j] is the logarithm of g_j. *)
Variable unit : nat -> V.
Hypothesis unit_log : forall j, (j < G)%N -> e (unit j) = pR K (base_at c j).

Let c0 : [char K] =i pred0 := setting_char0 SE.
Local Notation tok := (token_of c R).
Local Notation B := (cert_B c R).
Local Notation U := (cert_U c R).
Local Notation rhead := (recovered_head c K unit).
Local Notation M := (recovered c K unit).

(** *** Tokens *)

Lemma token_add x y : tok (addv d x y) = tok x + tok y.
Proof.
apply/matrixP => p q; rewrite !mxE (nth_map 0%N) ?size_iota // nth_iota //.
by rewrite zR_add.
Qed.

Lemma final_token (j : 'I_d) : final B j = tok (nth_b c j).
Proof. by apply/matrixP => p q; rewrite !mxE. Qed.

Lemma disp_token (i : 'I_d) : disp U i = tok (nth_u c i).
Proof. by apply/matrixP => p q; rewrite !mxE. Qed.

Lemma map_enum (T : Type) (F : nat -> T) : [seq F i | i : 'I_d <- enum 'I_d] = [seq F i | i <- iota 0 d].
Proof. by rewrite -val_enum_ord -[RHS]map_comp. Qed.

Lemma map_others (T : Type) (F : nat -> T) : [seq F i | i : 'I_d <- others d'] = [seq F i | i <- iota 1 d'].
Proof.
have : [seq val i | i <- others d'] = iota 1 d'.
  rewrite /others (@eq_filter _ _ (preim val (fun k : nat => k != 0%N))) //.
  rewrite -filter_map val_enum_ord /= (_ : filter _ _ = iota 1 d') //.
  by apply/all_filterP/allP => k; rewrite mem_iota => /andP[k0 _]; rewrite -lt0n.
by move=> <-; rewrite -[RHS]map_comp.
Qed.

Definition token_pair (p : seq Z * seq Z) : token R d * token R d := (tok p.1, tok p.2).

Lemma profiles_tokens : profiles B U = [seq token_pair p | p <- z_profiles c].
Proof.
rewrite /profiles /z_profiles map_cat; congr (_ ++ _).
  rewrite /first_row /z_first_row map_cons map_flatten -!map_comp.
  rewrite {1}/token_pair final_token disp_token; congr (_ :: flatten _).
  rewrite -map_others; apply: eq_map => i.
  by rewrite /comp /map /token_pair token_add ?final_token ?disp_token.
rewrite /later_rows /z_later_rows map_flatten -map_comp; congr flatten.
rewrite -map_others; apply: eq_map => j; rewrite /comp map_flatten -map_comp; congr flatten.
rewrite -map_enum; apply: eq_map => i.
by rewrite /comp /map /token_pair token_add ?final_token ?disp_token.
Qed.

Lemma sums_tokens :
  sums B U = [seq (token_pair t.1.1, token_pair t.1.2, token_pair t.2) | t <- z_sums c].
Proof.
rewrite /sums /z_sums map_cat; congr (_ ++ _).
  rewrite /first_sums -map_comp -map_others; apply: eq_map => i.
  by rewrite /comp /token_pair token_add ?final_token ?disp_token.
rewrite /later_sums map_flatten -map_comp; congr flatten.
rewrite -map_others; apply: eq_map => j; rewrite /comp -[RHS]map_comp.
rewrite -map_enum; apply: eq_map => i.
by rewrite /comp /token_pair token_add ?final_token ?disp_token.
Qed.

(** *** Exponents *)

Definition linear_combination (x : seq Z) : V := \sum_(j < G) zR R (nth Z0 x j) *: unit j.
Local Notation lin := linear_combination.

Lemma size_exponent h b u : size (exponent c h b u) = G.
Proof. by rewrite size_map size_iota. Qed.

Lemma logit_recovered h b u : logit (rhead h).1 (tok b) (tok u) = lin (exponent c h b u).
Proof.
rewrite /logit /lin.
transitivity (\sum_(p < d) \sum_(q < d) \sum_(j < G)
   zR R (Z.mul (Z.mul (nth Z0 b p) (nth Z0 u q)) (weight_at c h j p q)) *: unit j).
  apply: eq_bigr => p _; apply: eq_bigr => q _; rewrite !mxE scaler_sumr.
  by apply: eq_bigr => j _; rewrite scalerA !zR_mul.
under eq_bigr do rewrite exchange_big /=; rewrite exchange_big /=; apply: eq_bigr => j _.
rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n zsumE scaler_suml.
by apply: eq_bigr => p _; rewrite zsumE scaler_suml.
Qed.

Lemma exp_opp x : e (- x) = (e x)^-1.
Proof.
apply: (mulfI (exp_neq0 SE x)); rewrite -(exp_D SE) subrr (exp_0 SE) divff //.
exact: exp_neq0 SE _.
Qed.

Lemma exp_nat k x : e (k%:R *: x) = e x ^+ k.
Proof.
elim: k => [|k IH]; first by rewrite scale0r (exp_0 SE).
by rewrite mulrS scalerDl scale1r (exp_D SE) IH exprS.
Qed.

Lemma pR_power g z : pR K (power g z) = pR K g ^+ Z.to_nat z.
Proof. by case: z => [|p|p] //=; rewrite /pR ppow_nat natrX. Qed.

Lemma exp_unit j z : (j < G)%N -> e (zR R z *: unit j) =
  pR K (power (base_at c j) z) / pR K (power (base_at c j) (Z.opp z)).
Proof.
move=> jG; rewrite !pR_power -(unit_log jG); case: z => [|p|p] /=.
- by rewrite scale0r (exp_0 SE) divr1.
- by rewrite /pR exp_nat divr1.
by rewrite scaleNr exp_opp /pR exp_nat mul1r.
Qed.

Lemma pR_product f : pR K (product c f) = \prod_(j < G) pR K (f j).
Proof.
rewrite -(big_mkord predT (fun i => pR K (f i))) /index_iota subn0 /product.
by elim: (iota 0 G) => [|i s IH]; rewrite ?big_nil //= pR_mul IH big_cons.
Qed.

Lemma exp_lin x : e (lin x) = pR K (numerator c x) / pR K (denominator c x).
Proof.
rewrite !pR_product -prodf_div (big_morph e (exp_D SE) (exp_0 SE)).
by apply: eq_bigr => j _; rewrite exp_unit.
Qed.

Lemma pole_recovered h b u : let x := exponent c h b u in
  pole e (tok b) (tok u) (rhead h) = pR K (numerator c x) / pR K (denominator c x).
Proof. by rewrite /pole logit_recovered exp_lin. Qed.

(** *** Independence of the base *)

Hypothesis base_ok : check_base c.

Lemma base_nat_gt1 j : (j < G)%N -> (1 < Pos.to_nat (base_at c j))%N.
Proof.
move=> jG; case/andP: base_ok => /all_iotaP/(_ j jG)/Pos.ltb_lt g1 _.
by apply/ltP; rewrite -Pos2Nat.inj_1; apply/Pos2Nat.inj_lt.
Qed.

Lemma to_nat_dvd a b : (Pos.to_nat a %| Pos.to_nat b)%N -> Pos.divide a b.
Proof.
case/dvdnP=> k E; exists (Pos.of_nat k); apply: Pos2Nat.inj.
rewrite Pos2Nat.inj_mul E Nat2Pos.id // => k0; move: E (Pos_to_nat_gt0 b).
by rewrite k0 mul0n => ->.
Qed.

Lemma base_nat_coprime i j : (i < G)%N -> (j < G)%N -> i != j ->
  coprime (Pos.to_nat (base_at c i)) (Pos.to_nat (base_at c j)).
Proof.
move=> iG jG ij; case/andP: base_ok => _ /all_iotaP/(_ i iG)/all_iotaP/(_ j jG).
rewrite (negPf ij) orFb => /Pos.eqb_eq g1; rewrite /coprime.
set g := gcdn _ _; have g0 : (0 < g)%N by rewrite gcdn_gt0 Pos_to_nat_gt0.
have gE : Pos.to_nat (Pos.of_nat g) = g by rewrite Nat2Pos.id //; case: (g) g0.
have di : Pos.divide (Pos.of_nat g) (base_at c i) by apply: to_nat_dvd; rewrite gE dvdn_gcdl.
have dj : Pos.divide (Pos.of_nat g) (base_at c j) by apply: to_nat_dvd; rewrite gE dvdn_gcdr.
have := Pos.gcd_greatest _ _ _ di dj; rewrite g1 => -[k kg]; rewrite -gE.
by rewrite (Pos.mul_eq_1_r _ _ (esym kg)).
Qed.

Lemma lin_inj x y : size x = G -> size y = G -> lin x = lin y -> x = y.
Proof.
move=> sx sy /(congr1 e); rewrite !exp_lin => /eqP; rewrite eqr_div ?pK_neq0 //.
rewrite -!pR_mul => /eqP E; apply: (@eq_from_nth _ Z0) => [|j]; rewrite sx ?sy // => jG.
pose g (i : 'I_G) := Pos.to_nat (base_at c i).
have nat_prod f : Pos.to_nat (product c f) = (\prod_(i < G) Pos.to_nat (f i))%N.
  rewrite -(big_mkord predT (fun i => Pos.to_nat (f i))) /index_iota subn0 /product.
  by elim: (iota 0 G) => [|i s IH]; rewrite ?big_nil //= Pos2Nat.inj_mul IH big_cons.
have powE a z : Pos.to_nat (power a z) = (Pos.to_nat a ^ Z.to_nat z)%N.
  by case: z => [|p|p] //=; rewrite ppow_nat.
have : (\prod_(i < G) g i ^ (Z.to_nat (nth Z0 x i) + Z.to_nat (Z.opp (nth Z0 y i))) =
        \prod_(i < G) g i ^ (Z.to_nat (nth Z0 y i) + Z.to_nat (Z.opp (nth Z0 x i))))%N.
  rewrite (eq_bigr _ (fun i _ => expnD (g i) _ _)) [RHS](eq_bigr _ (fun i _ => expnD (g i) _ _)).
  rewrite !big_split /=; have /(natr_inj c0) := E.
  rewrite !Pos2Nat.inj_mul !nat_prod !multE.
  have step z : (\prod_(i < G) Pos.to_nat (power (base_at c i) (z i)) = \prod_(i < G) g i ^ Z.to_nat (z i))%N.
    by apply: eq_bigr => i _; rewrite powE.
  by rewrite (step (fun i => nth Z0 x i)) (step (fun i => nth Z0 y i))
    (step (fun i => Z.opp (nth Z0 x i))) (step (fun i => Z.opp (nth Z0 y i))).
have gt1 i : (1 < g i)%N by apply: base_nat_gt1.
have co (i k : 'I_G) : i != k -> coprime (g i) (g k) by move=> ik; apply: base_nat_coprime.
move/(base_independent gt1 co)/(_ (Ordinal jG)) => /=; rewrite -!plusE; lia.
Qed.

(** *** Vectors *)

Lemma residue_recovered h u : dot emb (rhead h).2 (tok u) = qK K (residue c h u).
Proof.
rewrite /residue qsumE //; apply: eq_bigr => p _.
by rewrite !mxE qK_mul // qK_integer rmorph_zR.
Qed.

Lemma basis_neq0 rows adj det : check_basis c rows adj det ->
  \det (\matrix_(j < d, p < d) zR R (nth Z0 (nth [::] rows j) p)) != 0.
Proof.
case/andP=> det0 /all_iotaP ok; set A := \matrix_(j, p) _.
pose A' : 'M[R]_d := \matrix_(p, k) zR R (nth Z0 (nth [::] adj p) k).
have AA' : A *m A' = (zR R det)%:M.
  apply/matrixP => j k; rewrite !mxE; have := ok j (ltn_ord j).
  move=> /all_iotaP/(_ k (ltn_ord k))/Z.eqb_eq/(congr1 (zR R)).
  rewrite zsumE => jk; transitivity (zR R (if val j == val k then det else Z0)).
    by rewrite -jk; apply: eq_bigr => p _; rewrite !mxE zR_mul.
  by rewrite (inj_eq val_inj); case: eqP => _; rewrite ?mulr1n ?mulr0n.
have : \det (A *m A') != 0.
  rewrite AA' det_scalar expf_neq0 //; apply: contra det0 => /eqP z0.
  by apply/Z.eqb_eq/(zK_eq0 c0); rewrite -(rmorph_zR emb) z0 rmorph0.
by rewrite det_mulmx mulf_eq0 negb_or => /andP[].
Qed.

Hypothesis tokens_ok : check_tokens c.

Lemma C1_recovered : C1 B U.
Proof.
case/andP: tokens_ok => /basis_neq0 nB /basis_neq0 nU; apply/andP; split=> //.
rewrite -det_tr (_ : U^T = \matrix_(j, p) zR R (nth Z0 (nth [::] (tokens_u c) j) p)) //.
by apply/matrixP => i j; rewrite !mxE.
Qed.

Hypothesis sum_ok : check_sum c.

Lemma vsum_recovered (p : 'I_d) : vsum M p 0 = qK K (nth zero_q (vector_sum c) p).
Proof.
case/and3P: sum_ok => _ /all_iotaP/(_ p (ltn_ord p)) + _.
rewrite (qK_eq c0) => /eqP ->; rewrite qsumE // /vsum /recovered big_map summxE.
rewrite -(big_mkord predT (fun h => qK K (vector_at c h p))) /index_iota subn0.
by apply: eq_bigr => h _; rewrite mxE.
Qed.

Lemma constant_recovered b : dot emb (vsum M) (tok b) = qK K (constant c b).
Proof.
rewrite /constant qK_red // qsumE //; apply: eq_bigr => p _.
by rewrite vsum_recovered !mxE qK_mul // qK_integer rmorph_zR.
Qed.

(** *** Profiles *)

Lemma share_recovered k N D : let r := pR K N / pR K D in
  qK K (share_q k N D) = pR K k * r / (1 + pR K k * r).
Proof.
move=> r; rewrite /qK /share_q /Qnum /Qden pR_add -[zR K _]/(pR K (Pos.mul k N)) pR_mul.
have nD := pK_neq0 c0 D; have -> : 1 + pR K k * r = (pR K D + pR K k * pR K N) / pR K D.
  by rewrite mulrDl divff // mulrA.
by rewrite invf_div mulrA -[pR K k * r * _]mulrA divfK.
Qed.

Lemma value_recovered const parts k :
  qK K (value const parts k) = qK K const + \sum_(t <- parts) qK K t.1 * qK K (share_q k t.2.1 t.2.2).
Proof.
elim: parts => [|t parts IH]; first by rewrite big_nil addr0.
by rewrite /= qK_add // qK_mul // IH big_cons addrCA.
Qed.

(** The parts of [check_profile]. *)
Record step_ok p (st : profile_step) : Prop := StepOk {
  step_answers : size (answers st) = (2 * n)%N;
  step_exponents : exponents st = [seq exponent c h p.1 p.2 | h <- iota 0 H];
  step_residues : [seq qK K r | r <- residues st] = [seq qK K (residue c h p.2) | h <- iota 0 H];
  step_distinct : distinct (exponents st);
  step_visible : forall h, (h < H)%N -> qK K (residue c h p.2) != 0;
  step_values : forall k, (0 < k <= 2 * n)%N ->
    qK K (value (constant c p.1)
           (zip (residues st) [seq (numerator c x, denominator c x) | x <- exponents st])
           (Pos.of_nat k)) = qK K (nth zero_q (answers st) k.-1)
}.

Lemma check_profileP p st : check_profile c p st -> step_ok p st.
Proof.
rewrite /check_profile => /andP[/eqP sa /andP[/eqP sx /andP[/eqP sr /andP[/all_iotaP xs]]]].
case/and4P=> /all_iotaP rs dx vis vals.
have rE h : (h < H)%N -> qK K (nth zero_q (residues st) h) = qK K (residue c h p.2).
  by move=> hH; apply/eqP; rewrite -(qK_eq c0); apply: rs.
split=> //.
- apply: (@eq_from_nth _ [::]) => [|h]; rewrite sx ?size_map ?size_iota // => hH.
  by rewrite (nth_map 0%N) ?size_iota // nth_iota //; apply/eqvP/xs.
- apply: (@eq_from_nth _ 0) => [|h]; rewrite !size_map sr ?size_iota // => hH.
  by rewrite (nth_map zero_q) ?sr // (nth_map 0%N) ?size_iota // nth_iota // rE.
- move=> h hH; rewrite -rE //; apply/negP => /eqP r0.
  move/(all_nthP zero_q): vis => /(_ h); rewrite sr => /(_ hH).
  by rewrite (qK_eq c0) r0 qK_integer eqxx.
move=> k /andP[k0 kn]; apply: (reduces_toP c0); move/all_iotaP: vals; apply.
by rewrite k0 add1n ltnS.
Qed.

Section Profile.

Variables (p : seq Z * seq Z) (st : profile_step).
Hypothesis st_ok : step_ok p st.

Lemma pole_index h g : (h < H)%N -> (g < H)%N ->
  pole e (tok p.1) (tok p.2) (rhead h) = pole e (tok p.1) (tok p.2) (rhead g) -> h = g.
Proof.
move=> hH gH /(exp_inj SE); rewrite !logit_recovered => /lin_inj E.
apply: (distinctP (step_distinct st_ok)); rewrite (step_exponents st_ok) ?size_map ?size_iota //.
by rewrite !(nth_map 0%N) ?size_iota // !nth_iota // E ?size_exponent.
Qed.

Lemma poles_uniq : uniq [seq pole e (tok p.1) (tok p.2) h | h <- M].
Proof.
rewrite -map_comp map_inj_in_uniq ?iota_uniq // => h g.
by rewrite !mem_iota => hH gH; apply: pole_index.
Qed.

Lemma answers_recovered k : (0 < k <= 2 * n)%N ->
  output emb e M (copies k (tok p.1) (tok p.2)) = qK K (nth zero_q (answers st) k.-1).
Proof.
move=> kn; rewrite (profile_identity SE) -(step_values st_ok kn) value_recovered.
rewrite /profile constant_recovered; congr (_ + _).
have kE : pR K (Pos.of_nat k) = k%:R.
  by rewrite /pR Nat2Pos.id //; case: (k) kn.
rewrite (step_exponents st_ok) /terms /recovered !big_map -map_comp.
have zipE (rs : seq Q) (hs : seq nat) : [seq qK K r | r <- rs] = [seq qK K (residue c h p.2) | h <- hs] ->
    \sum_(t <- zip rs [seq (numerator c (exponent c h p.1 p.2), denominator c (exponent c h p.1 p.2)) | h <- hs])
      qK K t.1 * qK K (share_q (Pos.of_nat k) t.2.1 t.2.2) =
    \sum_(h <- hs) dot emb (rhead h).2 (tok p.2) *
      (k%:R * pole e (tok p.1) (tok p.2) (rhead h) / (1 + k%:R * pole e (tok p.1) (tok p.2) (rhead h))).
  elim: rs hs => [|r rs IH] [|h hs] //=; first by rewrite !big_nil.
  case=> rE rsE; rewrite !big_cons IH //; congr (_ + _).
  by rewrite share_recovered kE pole_recovered residue_recovered rE.
by rewrite -(zipE _ _ (step_residues st_ok)).
Qed.

End Profile.

Hypothesis profiles_ok : check_profiles c.

Lemma zip_ok : size (steps c) = size (z_profiles c) /\
  all (fun ps => check_profile c ps.1 ps.2) (zip (z_profiles c) (steps c)).
Proof. by case/andP: profiles_ok => /eqP. Qed.

Lemma profile_step_of p : p \in profiles B U ->
  exists q st, p = token_pair q /\ step_ok q st.
Proof.
have [sz ok] := zip_ok; pose none := ProfileStep [::] [::] [::] [::].
rewrite profiles_tokens => /(mapP_nth ([::], [::])) [i iP ->].
exists (nth ([::], [::]) (z_profiles c) i), (nth none (steps c) i); split=> //.
apply: check_profileP; move/(all_nthP (([::], [::]), none)): ok => /(_ i).
by rewrite size_zip sz minnn nth_zip // => /(_ iP).
Qed.

(** *** Conditions *)

Lemma C2_recovered : C2 e M B U.
Proof. by apply/allP => p /profile_step_of[q [st [-> ok]]]; apply: (poles_uniq ok). Qed.

Lemma C3_recovered : C3 emb M U.
Proof.
apply/allP => u /(displacement_in_profiles B) [p /profile_step_of[q [st [-> ok]]] <-].
apply/allP => _ /mapP[h hH ->]; rewrite residue_recovered; apply: (step_visible ok).
by move: hH; rewrite mem_iota.
Qed.

Hypothesis matches_ok : check_matches c.

Lemma C4_recovered : C4 e M B U.
Proof.
apply/allP => t tB; have [_ _ p3] := sums_in tB; have mul := sums_multiply SE tB.
have inj := uniq_map_inj (allP C2_recovered _ p3).
move: tB mul inj; rewrite sums_tokens => /(mapP_nth (([::], [::]), ([::], [::]), ([::], [::]))).
set s0 := (_, _); case=> i iS ->; set s := nth s0 _ i => mul inj {p3}.
apply/unique_matchP => _ _ l /mapP[h hH ->] /mapP[g gH ->] lM E.
have hg : h = g; last first.
  rewrite -hg {g gH hg} in E *; split=> //; apply: inj; rewrite ?map_f // -E.
  by rewrite -mul.
case/mapP: lM E => k kH ->; rewrite !mem_iota /= !add0n in hH gH kH.
rewrite /pole !logit_recovered -(exp_D SE) => /(exp_inj SE) E.
apply/eqP; move/(all_nthP s0): matches_ok => /(_ i iS); rewrite -/s => /all_iotaP/(_ h hH)/all_iotaP/(_ g gH).
case/orP=> // /negP[]; apply/has_eqvP; exists k; first by rewrite size_map size_iota.
rewrite !(nth_map 0%N) ?size_iota // !nth_iota // !add0n.
apply: lin_inj; rewrite ?size_map ?size_iota // -E /lin -big_split.
apply: eq_bigr => j _; rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n.
by rewrite zR_add scalerDl.
Qed.

Lemma conditions_recovered : conditions emb e M B U.
Proof. by rewrite /conditions C1_recovered C2_recovered C3_recovered C4_recovered. Qed.

Lemma canonical_recovered : canonical M.
Proof.
have pB := grid_in_profiles B U 0 0.
apply/andP; split.
  have := allP C2_recovered _ pB; rewrite (_ : [seq _ | h <- M] =
    [seq e (logit W (final B 0) (disp U 0)) | W <- keys M]); first exact: map_uniq.
  by rewrite /keys -[RHS]map_comp.
apply/allP => h hM; have := allP (allP C3_recovered _ (profiles_displacement pB)) h hM.
by apply: contra => /eqP ->; rewrite /dot dotK0l.
Qed.

(** *** The transcript *)

Lemma transcript_queries : unzip1 (transcript c R K) = learner_queries n B U.
Proof.
have [sz ok] := zip_ok; rewrite /transcript /learner_queries /unzip1 map_cons profiles_tokens.
congr (_ :: _); rewrite map_flatten -map_comp -[in RHS]map_comp.
elim: (z_profiles c) (steps c) sz ok => [|p P IH] [|st S] //= [sz] /andP[/check_profileP ok okS].
rewrite IH //; congr (_ ++ _); rewrite -map_comp /profile_queries.
rewrite -[in RHS](@unzip1_zip _ _ (iota 1 (2 * n)) (answers st)) ?size_iota ?(step_answers ok) //.
by rewrite -map_comp.
Qed.

Lemma transcript_recovered X a : (X, a) \in transcript c R K -> output emb e M X = a.
Proof.
have [sz ok] := zip_ok; pose good Xa := output emb e M Xa.1 == Xa.2.
suff : all good (transcript c R K) by move=> /allP all_ok /all_ok /eqP.
rewrite /transcript; have -> w (s : seq _) : all good (w :: s) = good w && all good s by [].
apply/andP; split.
  rewrite /good (output_single SE) -[final B 0]/(final B (Ordinal (ltn0Sn d'))) final_token.
  rewrite constant_recovered -(qK_eq c0); case/and3P: sum_ok => _ _.
  by rewrite !(qK_eq c0) eq_sym.
elim: (zip _ _) ok => //= -[p st] s IH /andP[/check_profileP ok /IH oks].
rewrite all_cat oks andbT {s IH oks}.
apply/(all_nthP ([::], 0)) => i; rewrite size_map size_zip size_iota (step_answers ok) minnn => i_n.
rewrite (nth_map (0%N, zero_q)) ?size_zip ?size_iota ?(step_answers ok) ?minnn //.
rewrite nth_zip ?size_iota ?(step_answers ok) // /good /= nth_iota //.
by rewrite (answers_recovered ok) // add1n ltnS.
Qed.

End Soundness.

(** ** The theorems *)

Section Theorems.

Variable c : certificate.
Hypothesis accepted : check c.

Section Setting.

Variables (R : idomainType) (K : fieldType) (V : lmodType R).
Variables (emb : {rmorphism R -> K}) (e : V -> K).
Hypothesis SE : exp_setting emb e.
Variable unit : nat -> V.
Hypothesis unit_log : forall j, (j < rank c)%N -> e (unit j) = pR K (base_at c j).

(** Existence: the recovered heads are canonical, as many as claimed, satisfy
    C1-C4, and give the answers; the queries are the learner's. *)
Theorem certificate_correct :
  [/\ canonical (recovered c K unit), size (recovered c K unit) = heads c,
      conditions emb e (recovered c K unit) (cert_B c R) (cert_U c R),
      unzip1 (transcript c R K) = learner_queries (told c) (cert_B c R) (cert_U c R)
    & forall X a, (X, a) \in transcript c R K -> output emb e (recovered c K unit) X = a].
Proof.
case/and5P: accepted => cb ct cs cp cm; split.
- exact: (canonical_recovered SE unit_log).
- by rewrite size_map size_iota.
- exact: (conditions_recovered SE unit_log).
- exact: (transcript_queries SE).
move=> X a; exact: (transcript_recovered SE unit_log).
Qed.

(** Uniqueness: every model with at most as many canonical heads and the same
    answers has these canonical heads, up to their order. *)
Theorem certificate_unique (M' : model K V (dim c)) :
  (size (canon M') <= heads c)%N ->
  (forall X a, (X, a) \in transcript c R K -> output emb e M' X = a) ->
  perm_eq (canon M') (recovered c K unit).
Proof.
have [cM sM cond queries ansM] := certificate_correct => szM' ansM'.
have Hn : (heads c <= told c)%N.
  by case/and5P: accepted => _ _ /and3P[].
apply: (main_theorem (n := told c) SE cM _ cond); rewrite ?sM //.
move=> X; rewrite -queries => /mapP[[Y a] Ya ->] /=.
by rewrite (ansM' _ _ Ya) (ansM _ _ Ya).
Qed.

End Setting.

(** The claim of a certificate, in one statement: H canonical heads give these
    answers to 4 n d^2 - 2 n + 1 queries of length at most 2 n + 1, and no other
    model with at most H canonical heads does. *)
Theorem certificate_claim (R : idomainType) (K : fieldType) (V : lmodType R)
    (emb : {rmorphism R -> K}) (e : V -> K) (log_base : nat -> V) :
  exp_setting emb e ->
  (forall j, (j < rank c)%N -> e (log_base j) = pR K (base_at c j)) ->
  let M := recovered c K log_base in
  let gives_answers (N : model K V (dim c)) :=
    forall X a, (X, a) \in transcript c R K -> output emb e N X = a in
  [/\ canonical M /\ size M = heads c,
      size (transcript c R K) = (4 * told c * dim c ^ 2 - 2 * told c + 1)%N,
      (forall X a, (X, a) \in transcript c R K -> (size X <= 2 * told c + 1)%N),
      gives_answers M
    & forall N, (size (canon N) <= heads c)%N -> gives_answers N -> perm_eq (canon N) M].
Proof.
move=> SE logs M gives_answers; have [cM sM _ queries ansM] := certificate_correct SE logs.
split=> //.
- by rewrite -(size_map fst) -/(unzip1 _) queries query_count.
- move=> X a Xa; have : X \in unzip1 (transcript c R K) by apply: (map_f fst Xa).
  by rewrite queries => /query_length /andP[].
by move=> N; apply: (certificate_unique SE logs).
Qed.

(** *** Over the field of rational numbers, nothing is left to assume *)

Definition cert_base (j : 'I_(rank c)) : nat := Pos.to_nat (base_at c j).
Definition cert_exp : 'rV[int]_(rank c) -> rat := monomial_exp cert_base.
(** log g_j *)
Definition cert_unit (j : nat) : 'rV[int]_(rank c) := \row_i (i == j :> nat)%:R.
Notation cert_emb := [rmorphism of (intr : int -> rat)].

Theorem cert_setting : exp_setting cert_emb cert_exp.
Proof.
case/and5P: accepted => cb _ _ _ _; apply: rational_setting.
  by move=> j; apply: base_nat_gt1.
by move=> i j ij; apply: base_nat_coprime.
Qed.

Lemma cert_unit_log j : (j < rank c)%N -> cert_exp (cert_unit j) = pR _ (base_at c j).
Proof.
move=> jG; rewrite (_ : cert_unit j = delta_mx 0 (Ordinal jG)).
  exact: monomial_exp_delta.
by apply/rowP => i; rewrite !mxE.
Qed.

Theorem certificate_rational :
  let M := recovered c [fieldType of rat] cert_unit in
  let gives_answers (N : model _ _ (dim c)) :=
    forall X a, (X, a) \in transcript c [idomainType of int] [fieldType of rat] ->
    output cert_emb cert_exp N X = a in
  [/\ canonical M /\ size M = heads c, gives_answers M
    & forall N, (size (canon N) <= heads c)%N -> gives_answers N -> perm_eq (canon N) M].
Proof.
by move=> M gives_answers; have [] := certificate_claim cert_setting cert_unit_log.
Qed.

End Theorems.
