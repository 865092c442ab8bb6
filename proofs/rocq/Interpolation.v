(** The interpolation lemma: 2H+1 samples determine a profile with H visible
    heads among all profiles with at most H terms; 2H samples do not. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import System Profile.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Cauchy.

Variable K : fieldType.
Implicit Types (rs xs : seq K) (a : K -> K).

Definition line (r : K) : {poly K} := r *: 'X + 1.

Lemma line_at r x : (line r).[x] = 1 + x * r.
Proof. by rewrite !hornerE mulrC addrC. Qed.

Lemma size_line r : (size (line r) <= 2)%N.
Proof.
apply: leq_trans (size_add _ _) _; rewrite geq_max size_poly1 andbT.
by apply: leq_trans (size_scale_leq _ _) _; rewrite size_polyX.
Qed.

Lemma size_prod_line rs : (size (\prod_(r <- rs) line r)%R <= (size rs).+1)%N.
Proof.
elim: rs => [|r rs IH]; first by rewrite big_nil size_poly1.
rewrite big_cons; apply: leq_trans (size_mul_leq _ _) _.
by rewrite -subn1 leq_subLR; apply: leq_add (size_line r) IH.
Qed.

(** The functions 1 / (1 + x r), with distinct r, are independent on as many
    points.  The pole r = 0, the constant function, is allowed. *)
Lemma cauchy_independent rs xs a :
  uniq rs -> uniq xs -> (size rs <= size xs)%N ->
  {in xs & rs, forall x r, 1 + x * r != 0} ->
  {in xs, forall x, \sum_(r <- rs) a r / (1 + x * r) = 0} ->
  {in rs, forall r, a r = 0}.
Proof.
move=> urs uxs sz off sum0.
pose P := \sum_(r <- rs) a r *: \prod_(s <- rs | s != r) line s.
have sizeP : (size P <= size rs)%N.
  rewrite /P big_seq; apply: (big_ind (fun q : {poly K} => (size q <= size rs)%N)) => [|p q sp sq|r rin].
  - by rewrite size_poly0.
  - by apply: leq_trans (size_add _ _) _; rewrite geq_max sp.
  apply: leq_trans (size_scale_leq _ _) _; rewrite -big_filter.
  rewrite -rem_filter //; apply: leq_trans (size_prod_line _) _.
  by rewrite size_rem // prednK //; case: (rs) rin.
have P0 : P = 0.
  apply/eqP/negPn/negP => nzP.
  have /(max_poly_roots nzP) -/(_ uxs) : all (root P) xs.
    apply/allP => x xin; rewrite /root horner_sum.
    apply/eqP; transitivity
      ((\prod_(s <- rs) (1 + x * s)) * \sum_(r <- rs) a r / (1 + x * r)).
      2: by rewrite sum0 // mulr0.
    rewrite mulr_sumr big_seq [RHS]big_seq.
    apply: eq_bigr => r rin; rewrite hornerZ horner_prod.
    under eq_bigr do rewrite line_at.
    by rewrite (bigD1_seq r) //= mulrAC [_ * (a r / _)]mulrCA mulfV ?mulr1 ?off.
  by rewrite ltnNge (leq_trans sizeP).
have at0 r : r \in rs -> r != 0 -> a r = 0.
  move=> rin nzr; have : P.[- r^-1] = 0 by rewrite P0 horner0.
  rewrite horner_sum (bigD1_seq r) //= [X in _ + X]big1 => [|s sr]; last first.
    rewrite hornerZ horner_prod -big_filter (bigD1_seq r) ?filter_uniq //=.
      by rewrite line_at mulNr mulVf // subrr mul0r mulr0.
    by rewrite mem_filter eq_sym sr.
  rewrite addr0 hornerZ horner_prod => /eqP; rewrite mulf_eq0 => /orP[/eqP //|].
  rewrite -big_filter prodf_seq_eq0 => /hasP[s]; rewrite mem_filter /= line_at.
  case/andP=> sr _ /eqP z; have : r * (1 + - r^-1 * s) = r - s.
    by rewrite mulrDr mulr1 mulrA mulrN mulfV // mulN1r.
  by rewrite z mulr0 => /esym/eqP; rewrite subr_eq0 eq_sym (negPf sr).
move=> r rin; have [r0|] := eqVneq r 0; last exact: at0.
have : P.[0] = 0 by rewrite P0 horner0.
rewrite horner_sum (bigD1_seq r) //= [X in _ + X]big_seq_cond [X in _ + X]big1 => [|s /andP[sin sr]].
  rewrite addr0 hornerZ horner_prod big1 ?mulr1 // => s _.
  by rewrite line_at mul0r addr0.
by rewrite (at0 s) ?scale0r ?horner0 // -r0.
Qed.

(** ** The lemma *)

(** A profile is a combination of the constant and of the 1 / (1 + x r). *)
Lemma profile_shares s (t : seq (K * K)) x : off_poles t x ->
  profile s t x =
    s + \sum_(p <- t) p.2 - \sum_(p <- t) p.2 / (1 + x * p.1).
Proof.
move=> /allP off; rewrite /profile -addrA -sumrB; congr (_ + _).
rewrite big_seq [RHS]big_seq; apply: eq_bigr => p pt.
by rewrite share ?off // mulrBr mulr1.
Qed.

(** Two profiles that agree on more points than they have terms together have
    the same constant, and the same residues belong to the same poles. *)
Theorem profile_determined s s' (F G : seq (K * K)) xs :
  uniq xs -> (size F + size G < size xs)%N ->
  true_poles F -> true_poles G ->
  (forall x, x \in xs -> off_poles F x && off_poles G x) ->
  (forall x, x \in xs -> profile s F x = profile s' G x) ->
  s = s' /\ forall r, total F r = total G r.
Proof.
move=> uxs sz tF tG off agree.
pose ks := undup (keys F ++ keys G).
have uks : uniq ks := undup_uniq _.
have subF : {subset keys F <= ks}.
  by move=> r; rewrite mem_undup mem_cat => ->.
have subG : {subset keys G <= ks}.
  by move=> r; rewrite mem_undup mem_cat orbC => ->.
have nz r : r \in ks -> r != 0.
  rewrite mem_undup mem_cat => /orP[] /mapP[p pt ->].
    by move/allP: tF; apply.
  by move/allP: tG; apply.
have sum_res t : {subset keys t <= ks} ->
    \sum_(r <- ks) total t r = \sum_(p <- t) p.2.
  by move=> sub; apply: (big_total (F := fun _ c => c)).
have sum_share t x : {subset keys t <= ks} ->
    \sum_(r <- ks) total t r / (1 + x * r) = \sum_(p <- t) p.2 / (1 + x * p.1).
  move=> sub; apply: (big_total (F := fun r c => c / (1 + x * r))) => //= r.
    by rewrite mul0r.
  by move=> c c'; rewrite mulrDl.
pose const := (s + \sum_(p <- F) p.2) - (s' + \sum_(p <- G) p.2).
pose a r := if r == 0 then const else total G r - total F r.
have a0 : {in 0 :: ks, forall r, a r = 0}.
  apply: (cauchy_independent (xs := xs)) => //=.
  - by rewrite uks andbT; apply/negP => /nz; rewrite eqxx.
  - apply: leq_ltn_trans sz; apply: leq_trans (size_undup _) _.
    by rewrite size_cat !size_map.
  - move=> x r /off /andP[/allP oF /allP oG]; rewrite inE => /predU1P[->|].
      by rewrite mulr0 addr0 oner_neq0.
    rewrite mem_undup mem_cat => /orP[] /mapP[p pt ->]; first exact: oF.
    exact: oG.
  move=> x xin; have /andP[oF oG] := off x xin.
  rewrite big_cons {1}/a eqxx mulr0 addr0 divr1.
  rewrite (eq_big_seq (fun r => total G r / (1 + x * r) - total F r / (1 + x * r))).
    rewrite sumrB !sum_share //; have := agree x xin.
    rewrite !profile_shares // => /eqP; rewrite -subr_eq0 => /eqP E; rewrite -[RHS]E.
    by rewrite /const opprB [LHS]addrACA [RHS]addrACA; congr (_ + _); apply: addrC.
  by move=> r /nz /negPf r0; rewrite /a r0 mulrBl.
have tot r : r \in ks -> total F r = total G r.
  move=> rin; have := a0 r; rewrite inE rin orbT /a (negPf (nz r rin)).
  by move/(_ isT)/eqP; rewrite subr_eq0 => /eqP.
split; last first.
  move=> r; have [/tot //|rks] := boolP (r \in ks).
  by rewrite !total_notin //; apply: contra rks; [exact: subG|exact: subF].
have := a0 0; rewrite inE eqxx /a eqxx => /(_ isT)/eqP; rewrite subr_eq0.
rewrite -!sum_res // (eq_big_seq (total G)) ?(inj_eq (addIr _)) => [/eqP //|].
by move=> r rin; rewrite tot.
Qed.

(** The nodes 0, 1, ..., n - 1. *)
Definition nodes n : seq K := [seq k%:R | k <- iota 0 n].

Lemma nodes_uniq n : [char K] =i pred0 -> uniq (nodes n).
Proof.
by move=> c0; rewrite map_inj_uniq ?iota_uniq //; apply: natr_inj.
Qed.

(** The interpolation lemma.  F shows H heads: distinct poles, non-zero
    residues.  G is any rival of form (P) with at most H terms. *)
Theorem interpolation_lemma H s s' (F G : seq (K * K)) :
  [char K] =i pred0 ->
  reduced F -> size F = H -> (size G <= H)%N ->
  true_poles F -> true_poles G ->
  (forall k, (k <= 2 * H)%N -> off_poles F k%:R && off_poles G k%:R) ->
  (forall k, (k <= 2 * H)%N -> profile s F k%:R = profile s' G k%:R) ->
  s = s' /\ perm_eq F G.
Proof.
move=> c0 redF szF szG tF tG off agree.
have mem_nodes x : x \in nodes (2 * H).+1 -> exists2 k, (k <= 2 * H)%N & x = k%:R.
  by case/mapP=> k; rewrite mem_iota => kH ->; exists k.
have szN : (size F + size G < size (nodes (2 * H).+1))%N.
  by rewrite size_map size_iota szF ltnS mul2n -addnn leq_add2l.
have offN x : x \in nodes (2 * H).+1 -> off_poles F x && off_poles G x.
  by case/mem_nodes=> k kH ->; apply: off.
have agreeN x : x \in nodes (2 * H).+1 -> profile s F x = profile s' G x.
  by case/mem_nodes=> k kH ->; apply: agree.
have [ss tot] := profile_determined (nodes_uniq _ c0) szN tF tG offN agreeN.
by split=> //; apply: reduced_perm; rewrite ?szF.
Qed.

End Cauchy.

(** ** 2H samples are not enough *)

Section Sharp.

Variable K : numFieldType.

Lemma off_poles_pos (t : seq (K * K)) k :
  all (fun p => 0 < p.1) t -> off_poles t k%:R.
Proof.
move/allP=> pos; apply/allP => p /pos p0.
by rewrite gt_eqF // ltr_spaddl ?ltr01 // mulr_ge0 ?ler0n ?ltW.
Qed.

(** Two profiles with H heads each, positive poles, no pole in common, that
    agree at k = 0..2H-1 and differ at k = 2H. *)
Theorem samples_2H_insufficient H : (0 < H)%N ->
  exists F G : seq (K * K),
    [/\ reduced F && (size F == H) && all (fun p => 0 < p.1) F,
        reduced G && (size G == H) && all (fun p => 0 < p.1) G,
        forall r, r \in keys F -> r \notin keys G,
        forall k, (k < 2 * H)%N -> profile 0 F k%:R = profile 0 G k%:R
      & profile 0 F (2 * H)%:R != profile 0 G (2 * H)%:R].
Proof.
case: H => // h _; set H := h.+1; pose N := (2 * h).+1.
have NH : N.+1 = (2 * H)%N by rewrite /N /H mulnS.
pose r (i : 'I_N.+1) : K := i.+1%:R.
pose A : 'M[K]_(N.+1, N) :=
  \matrix_(i, k) (k.+1%:R * r i / (1 + k.+1%:R * r i)).
have : kermx A != 0.
  rewrite kermx_eq0 /row_free neq_ltn (leq_ltn_trans (rank_leq_col A)) //.
case/rowV0Pn=> v /sub_kermxP vA nzv.
pose T := [seq (r i, v 0 i) | i <- enum 'I_N.+1].
have r_inj : injective r.
  move=> i j /eqP; rewrite /r eqr_nat => /eqP [ij]; exact: val_inj.
have uT : uniq (keys T).
  by rewrite /keys -map_comp map_inj_uniq ?enum_uniq.
have posT : all (fun p => 0 < p.1) T.
  by apply/allP => _ /mapP[i _ ->] /=; rewrite ltr0Sn.
have T0 k : (k <= N)%N -> profile 0 T k%:R = 0.
  case: k => [_|k kN]; first exact: profile_0.
  move/rowP/(_ (Ordinal kN)): vA; rewrite !mxE => vk.
  rewrite /profile add0r big_map big_enum /= -[RHS]vk.
  by apply: eq_bigr => i _; rewrite !mxE.
have c0 : [char K] =i pred0 := char_num K.
have pos_true (t : seq (K * K)) : all (fun p => 0 < p.1) t -> true_poles t.
  by apply: sub_all => p; apply: lt0r_neq0.
(* Fewer than 2H terms would be determined by the 2H samples. *)
have nzT : all (fun p => p.2 != 0) T.
  have red0 : reduced T || (size (merge T) <= N)%N.
    have := size_merge T; rewrite leq_eqVlt size_merge_reduced => /orP[->//|].
    by rewrite size_map size_enum_ord ltnS => ->; rewrite orbT.
  case/orP: red0 => [/andP[] //|szm].
  have sub : {subset keys (merge T) <= keys T}.
    by move=> x; rewrite keys_merge mem_filter mem_undup => /andP[].
  have posm : all (fun p => 0 < p.1) (merge T).
    apply/allP => p /(map_f (@fst _ _)) /sub /mapP[q qT ->].
    exact: (allP posT).
  have szN : (size (merge T) + size ([::] : seq (K * K)) < size (nodes K N.+1))%N.
    by rewrite addn0 size_map size_iota.
  have offN x : x \in nodes K N.+1 -> off_poles (merge T) x && off_poles [::] x.
    by case/mapP=> k _ ->; rewrite off_poles_pos.
  have agreeN x : x \in nodes K N.+1 -> profile 0 (merge T) x = profile 0 [::] x.
    case/mapP=> k; rewrite mem_iota ltnS => kN ->.
    by rewrite profile_merge T0 // /profile big_nil addr0.
  have [_ tot0] := profile_determined (nodes_uniq _ c0) szN (pos_true _ posm)
                     isT offN agreeN.
  case/eqP: nzv; apply/rowP => i; rewrite mxE.
  have iT : (r i, v 0 i) \in T by apply: map_f; rewrite mem_enum.
  have -> : v 0 i = total T (r i) by rewrite (uniq_total uT iT).
  have := tot0 (r i); rewrite [RHS]total_notin //.
  have [rm|rm] := boolP (r i \in keys (merge T)).
    case/mapP: rm => q qm ->; case/andP: (merge_reduced T) => um /allP/(_ q qm).
    by move=> nzq /esym; rewrite (uniq_total um qm) => q0; rewrite -q0 eqxx in nzq.
  move=> _; move: rm; rewrite keys_merge mem_filter mem_undup.
  by rewrite (map_f (@fst _ _) iT) andbT negbK => /eqP.
pose F := take H T; pose G0 := drop H T.
pose G := [seq (p.1, - p.2) | p <- G0].
have keysG : keys G = keys G0 by rewrite /keys -map_comp.
have TFG : T = F ++ G0 by rewrite cat_take_drop.
have szT : size T = (H + H)%N by rewrite size_map size_enum_ord NH mul2n addnn.
have szF : size F = H by rewrite size_takel // szT leq_addr.
have szG : size G = H by rewrite size_map size_drop szT addnK.
have splitT k : profile 0 T k%:R = profile 0 F k%:R - profile 0 G k%:R.
  rewrite TFG /profile !add0r big_cat big_map /=; congr (_ + _).
  by rewrite -sumrN; apply: eq_bigr => p _; rewrite mulNr opprK.
move: uT nzT posT; rewrite TFG /keys map_cat cat_uniq !all_cat -!/(keys _).
case/and3P=> uF disj uG /andP[nzF nzG] /andP[posF posG0].
have redF : reduced F by rewrite /reduced uF.
have redG : reduced G.
  rewrite /reduced keysG uG all_map; apply: sub_all nzG => p /=.
  by rewrite oppr_eq0.
have posG : all (fun p => 0 < p.1) G by rewrite all_map.
have disjFG x : x \in keys F -> x \notin keys G.
  by move=> xF; rewrite keysG; apply: contra disj => xG; apply/hasP; exists x.
have agree k : (k < 2 * H)%N -> profile 0 F k%:R = profile 0 G k%:R.
  rewrite -NH ltnS => /T0; rewrite splitT => /eqP.
  by rewrite subr_eq0 => /eqP.
exists F, G; split=> //; rewrite ?redF ?redG ?szF ?szG ?eqxx //.
apply/eqP => last_agrees.
have agree_all k : (k <= 2 * H)%N -> profile 0 F k%:R = profile 0 G k%:R.
  by rewrite leq_eqVlt => /predU1P[->|/agree].
have off_all k : (k <= 2 * H)%N -> off_poles F k%:R && off_poles G k%:R.
  by move=> _; rewrite !off_poles_pos.
have leG : (size G <= H)%N by rewrite szG.
have [_ FG] := interpolation_lemma c0 redF szF leG (pos_true _ posF)
                 (pos_true _ posG) off_all agree_all.
have [p pF] : exists p, p \in F.
  have : (0 < size F)%N by rewrite szF.
  by case: (F) => // p F' _; exists p; apply: mem_head.
have := disjFG p.1 (map_f _ pF).
by rewrite map_f // -(perm_mem FG).
Qed.

End Sharp.
