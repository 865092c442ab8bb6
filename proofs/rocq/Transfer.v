(** From the binary numbers of the standard library, which can compute, to
    MathComp: [zR] embeds Z in a ring, [qK] embeds Q in a field of
    characteristic 0.  Over MathComp's own rationals, [qK] is the identity in
    another representation. *)

From Coq Require Import ZArith QArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import System.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(** ** Integers *)

Section Integers.

Variable R : ringType.

Definition pR (p : positive) : R := (Pos.to_nat p)%:R.

Definition zR (z : Z) : R :=
  match z with Z0 => 0 | Zpos p => pR p | Zneg p => - pR p end.

Lemma pR_add p q : pR (Pos.add p q) = pR p + pR q.
Proof. by rewrite /pR Pos2Nat.inj_add natrD. Qed.

Lemma pR_mul p q : pR (Pos.mul p q) = pR p * pR q.
Proof. by rewrite /pR Pos2Nat.inj_mul natrM. Qed.

Lemma zR_opp z : zR (Z.opp z) = - zR z.
Proof. by case: z => [|p|p] /=; rewrite ?oppr0 ?opprK. Qed.

Lemma zR_succ z : zR (Z.succ z) = zR z + 1.
Proof.
case: z => [|p|p]; first by rewrite add0r.
  by rewrite /= pR_add.
elim/Pos.peano_case: p => [|p]; first by rewrite /= addNr.
have -> : Z.succ (Zneg (Pos.succ p)) = Zneg p by lia.
by rewrite /= -Pos.add_1_l pR_add opprD addrAC addNr add0r.
Qed.

Lemma zR_add y z : zR (Z.add y z) = zR y + zR z.
Proof.
elim/Z.peano_ind: z => [|z IH|z IH]; first by rewrite Z.add_0_r addr0.
  by rewrite Z.add_succ_r !zR_succ IH addrA.
by apply: (addIr 1); rewrite -zR_succ -addrA -zR_succ -Z.add_succ_r Z.succ_pred.
Qed.

Lemma zR_mul y z : zR (Z.mul y z) = zR y * zR z.
Proof.
elim/Z.peano_ind: z => [|z IH|z IH]; first by rewrite Z.mul_0_r mulr0.
  by rewrite Z.mul_succ_r zR_add zR_succ IH mulrDr mulr1.
apply: (addIr (zR y)); rewrite -zR_add -Z.mul_succ_r Z.succ_pred IH.
by rewrite -[X in _ = _ + X](mulr1 (zR y)) -mulrDr -zR_succ Z.succ_pred.
Qed.

Lemma zR_nat n : zR (Z.of_nat n) = n%:R.
Proof. by elim: n => // n IH; rewrite Nat2Z.inj_succ zR_succ IH -addn1 natrD. Qed.

(** Binary powers. *)
Fixpoint ppow (g n : positive) : positive :=
  match n with
  | xH => g
  | xO n' => let y := ppow g n' in Pos.mul y y
  | xI n' => let y := ppow g n' in Pos.mul g (Pos.mul y y)
  end.

Lemma ppow_nat g n : Pos.to_nat (ppow g n) = (Pos.to_nat g ^ Pos.to_nat n)%N.
Proof.
elim: n => [n IH|n IH|] /=; last by rewrite expn1.
  by rewrite !Pos2Nat.inj_mul IH Pos2Nat.inj_xI !multE -expnD addnn -mul2n -expnS.
by rewrite Pos2Nat.inj_mul IH Pos2Nat.inj_xO !multE -expnD addnn -mul2n.
Qed.

End Integers.

Lemma rmorph_zR (R S : ringType) (f : {rmorphism R -> S}) z : f (zR R z) = zR S z.
Proof. by case: z => [|p|p] /=; rewrite ?rmorph0 // ?rmorphN rmorph_nat. Qed.

Lemma Pos_to_nat_gt0 p : (0 < Pos.to_nat p)%N.
Proof. by apply/ltP; apply: Pos2Nat.is_pos. Qed.

(** ** Rationals *)

Section Rationals.

Variable K : fieldType.
Hypothesis char0 : [char K] =i pred0.

Local Notation zK := (zR K).
Local Notation pK := (pR K).

Lemma pK_neq0 p : pK p != 0.
Proof.
by have /charf0P -> := char0; rewrite -lt0n Pos_to_nat_gt0.
Qed.

Lemma zK_eq0 z : zK z = 0 -> z = Z0.
Proof.
case: z => // p /eqP; first by rewrite (negPf (pK_neq0 p)).
by rewrite oppr_eq0 (negPf (pK_neq0 p)).
Qed.

Lemma zK_inj : injective zK.
Proof.
move=> y z E; have : zK (Z.sub y z) = 0 by rewrite /Z.sub zR_add zR_opp E subrr.
by move/zK_eq0; lia.
Qed.

Definition qK (q : Q) : K := zK (Qnum q) / pK (Qden q).

Lemma qK_add p q : qK (Qplus p q) = qK p + qK q.
Proof.
case: p q => [a b] [c d]; rewrite /qK /= zR_add !zR_mul /= pR_mul.
by rewrite addf_div ?pK_neq0.
Qed.

Lemma qK_mul p q : qK (Qmult p q) = qK p * qK q.
Proof. by rewrite /qK /= zR_mul pR_mul invfM mulrACA. Qed.

(** Equality, by cross-multiplication. *)
Lemma qK_eq p q : Qeq_bool p q = (qK p == qK q).
Proof.
have nz b := pK_neq0 b; case: p q => [a b] [c d]; rewrite /Qeq_bool /qK /=.
rewrite eqr_div // -[pK d]/(zK (Zpos d)) -[pK b]/(zK (Zpos b)) -!zR_mul.
apply/idP/eqP => [/Zeq_bool_eq -> //|].
by move/zK_inj => E; apply/Zeq_is_eq_bool.
Qed.

Lemma qK_red q : qK (Qred q) = qK q.
Proof. by apply/eqP; rewrite -qK_eq; apply/Qeq_bool_iff; apply: Qred_correct. Qed.

Lemma qK_integer z : qK (Qmake z 1) = zK z.
Proof. by rewrite /qK /= /pR divr1. Qed.

(** Equality with a given cancelled factor t: q is (num t) / (den t). *)
Definition reduces_to (q a : Q) (t : positive) : bool :=
  Z.eqb (Qnum q) (Z.mul (Qnum a) (Zpos t)) && Pos.eqb (Qden q) (Pos.mul (Qden a) t).

Lemma reduces_toP q a t : reduces_to q a t -> qK q = qK a.
Proof.
case/andP=> /Z.eqb_eq num /Pos.eqb_eq den; rewrite /qK num den zR_mul pR_mul.
by rewrite -mulf_div divff ?mulr1 ?pK_neq0.
Qed.

End Rationals.

(** Over MathComp's rationals [qK] reaches every number. *)
Lemma qK_rat_surjective (x : rat) : exists q, qK [fieldType of rat] q = x.
Proof.
pose z (i : int) : Z := match i with Posz n => Z.of_nat n | Negz n => Z.opp (Z.of_nat n.+1) end.
have zE i : zR rat_Ring (z i) = i%:~R.
  by case: i => n; rewrite /z ?zR_opp zR_nat // NegzE rmorphN.
exists (Qmake (z (numq x)) (Pos.of_nat `|denq x|)); rewrite /qK /= zE /pR Nat2Pos.id.
  by rewrite -[RHS]divq_num_den; congr (_ / _); rewrite -[in RHS](@gez0_abs (denq x)).
by apply/eqP; rewrite absz_eq0 denq_neq0.
Qed.
