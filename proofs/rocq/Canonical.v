(** The canonical heads are all that queries can see, and they see all of them. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import System Profile Model Interpolation Matching Conditions.
From ExactMHA Require Import Uniqueness SchwartzZippel Genericity.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Canonical.

Variables (R : idomainType) (K : fieldType) (V : lmodType R).
Variables (emb : {rmorphism R -> K}) (e : V -> K).
Hypothesis SE : exp_setting emb e.
Variable d' : nat.
Local Notation d := d'.+1.
Implicit Types M : model K V d.

(** Matrices and tokens with natural numbers as coordinates. *)
Definition naturals m n (A : 'M[nat]_(m, n)) : 'M[R]_(m, n) := map_mx (fun k => k%:R) A.
Definition natural_token (x : token R d) : Prop := exists w, x = naturals w.

Lemma natural_grid n : injective (fun i : 'I_n => i%:R : R).
Proof.
move=> i j ij; apply: val_inj; apply: (natr_inj (setting_char0 SE)).
by rewrite -!(rmorph_nat emb) ij.
Qed.

(** Some tokens of natural numbers satisfy C1-C4. *)
Theorem good_draw M : canonical M ->
  exists B U : 'M[nat]_d, conditions emb e M (naturals B) (naturals U).
Proof.
move=> cM; pose H := size M.
pose a := (d + (2 * d ^ 2 - 1) * 'C(H, 2) + (d ^ 2 - 1) * (H ^ 2 * (H - 1)))%N.
pose c := ((2 * d - 1) * H)%N; pose S := (a + a + c).+1.
have := genericity_bound SE (@natural_grid S) (@natural_grid S) (ltn0Sn _) (ltn0Sn _) cM erefl.
rewrite -/H -/a -/c => bound; have /Pr_lt1 : Pr
    [pred w : draw d' S S | ~~ conditions emb e M (drawn_B (fun i : 'I_S => i%:R) w)
                                                (drawn_U (fun i : 'I_S => i%:R) w)] < 1.
  apply: le_lt_trans bound _; rewrite mulrDr -!mulrDl -!natrD.
  by rewrite ltr_pdivr_mulr ?ltr0Sn // mul1r ltr_nat ltnSn.
case=> [|w /= /negPn good].
  by rewrite card_prod !card_ffun muln_gt0 !expn_gt0 !card_ord.
exists (tokens (fun i => val (w.1 i))), (tokens (fun i => val (w.2 i))).
move: good; congr (conditions _ _ _ _ _); apply/matrixP => i j; rewrite !mxE //.
Qed.

Lemma natural_add x y : natural_token x -> natural_token y -> natural_token (x + y).
Proof.
case=> [a ->] [c ->]; exists (\matrix_(i, j) (a i j + c i j)%N).
by apply/matrixP => i j; rewrite !mxE natrD.
Qed.

Lemma natural_final B j : natural_token (final (naturals B) j).
Proof. by exists (row j B)^T; apply/matrixP => i k; rewrite !mxE. Qed.

Lemma natural_disp U i : natural_token (disp (naturals U) i).
Proof. by exists (col i U); apply/matrixP => j k; rewrite !mxE. Qed.

Lemma natural_profiles B U p : p \in profiles (naturals B) (naturals U) ->
  natural_token p.1 /\ natural_token p.2.
Proof.
rewrite mem_cat inE => /orP[/predU1P[->|/flatten_mapP[i _]]|/flatten_mapP[j _ /flatten_mapP[i _]]].
- by split; [apply: natural_final|apply: natural_disp].
- rewrite !inE => /orP[] /eqP -> /=; split; try exact: natural_final.
    exact: natural_disp.
  by apply: natural_add; apply: natural_disp.
rewrite !inE => /orP[] /eqP -> /=; split; try exact: natural_disp.
  exact: natural_final.
by apply: natural_add; apply: natural_final.
Qed.

(** Agreement on "k copies of b + u, then b" for k = 0..n and natural tokens. *)
Definition agree_on_copies n M M' : Prop := forall k b u,
  (k <= n)%N -> natural_token b -> natural_token u ->
  output emb e M (copies k b u) = output emb e M' (copies k b u).

Lemma fewer_heads M M' : canonical M ->
  agree_on_copies (size M + size M') M M' -> (size M <= size M')%N.
Proof.
move=> cM agree; have [B [U cond]] := good_draw cM.
set b := final (naturals B) 0; set u := disp (naturals U) 0.
have red : reduced (terms emb e M b u).
  have pB := grid_in_profiles (naturals B) (naturals U) 0 0.
  exact: explained_reduced (model_explained SE 0 pB cond).
pose n := (size M + size M')%N.
have sz : (size (terms emb e M b u) + size (terms emb e M' b u) < size (nodes K n.+1))%N.
  by rewrite !size_map size_iota.
have [] := @profile_determined K (dot emb (vsum M) b) (dot emb (vsum M') b) _ _ (nodes K n.+1)
             (nodes_uniq _ (setting_char0 SE)) sz (true_poles_terms SE M b u)
             (true_poles_terms SE M' b u).
- by move=> x /mapP[k _ ->]; rewrite !(off_poles_terms SE).
- move=> x /mapP[k]; rewrite mem_iota ltnS => kn ->.
  rewrite -!(profile_identity SE); apply: agree => //; first exact: natural_final.
  exact: natural_disp.
move=> _ tot; rewrite -(size_map (fun h => pole e b u h)) -(size_map (fun h => pole e b u h) M').
have kE N : [seq pole e b u h | h <- N] = keys (terms emb e N b u).
  by rewrite /keys -map_comp.
rewrite !kE; case/andP: red => uk nz; apply: uniq_leq_size => // r /mapP[t tM ->].
apply/negPn/negP => /total_notin; rewrite -tot uniq_total // => /eqP.
exact/negP/(allP nz).
Qed.

Theorem canonical_determined M M' : canonical M -> canonical M' ->
  agree_on_copies (size M + size M') M M' -> perm_eq M M'.
Proof.
move=> cM cM' agree.
have sz : size M = size M'.
  apply/eqP; rewrite eqn_leq (fewer_heads cM agree) (fewer_heads cM') // addnC.
  by move=> k b u kn nb nu; rewrite agree.
have [B [U cond]] := good_draw cM; rewrite perm_sym -[M'](merge_id cM').
apply: (main_theorem SE cM (leqnn _) cond); first by rewrite /canon merge_id ?sz.
move=> X; rewrite inE => /predU1P[->|/flatten_mapP[p pB /mapP[k]]].
  rewrite -[[:: _]]/(copies 0 (final (naturals B) 0) (disp (naturals U) 0)).
  by rewrite agree //; [apply: natural_final|apply: natural_disp].
rewrite mem_iota => /andP[_ kn] ->; have [nb nu] := natural_profiles pB.
by rewrite agree // -sz addnn -mul2n -ltnS.
Qed.

(** The theorem: equal canonical heads, equal functions, and agreement on
    finitely many copies of natural tokens, are the same. *)
Theorem canonical_uniqueness M M' :
  (perm_eq (canon M) (canon M') <-> forall X, output emb e M X = output emb e M' X) /\
  (perm_eq (canon M) (canon M') <->
     agree_on_copies (size (canon M) + size (canon M')) M M').
Proof.
have one : perm_eq (canon M) (canon M') -> forall X, output emb e M X = output emb e M' X.
  move=> MM' X; rewrite -(output_canon emb e M) -(output_canon emb e M').
  exact: perm_big.
have three : agree_on_copies (size (canon M) + size (canon M')) M M' ->
    perm_eq (canon M) (canon M').
  move=> agree; apply: canonical_determined; try exact: merge_reduced.
  by move=> k b u kn nb nu; rewrite !output_canon agree.
split; split=> // agree; first by apply: three => k b u _ _ _.
by move=> k b u _ _ _; apply: one.
Qed.

End Canonical.
