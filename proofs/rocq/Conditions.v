(** Conditions C1-C4 for a model and a draw of tokens. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import Profile Model Matching.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Conditions.

Variables (R : idomainType) (K : fieldType) (V : lmodType R).
Variables (emb : {rmorphism R -> K}) (e : V -> K).
Variable d' : nat.
Local Notation d := d'.+1.
Implicit Types (M : model K V d) (B U : 'M[R]_d).

(** The displacements of the first row. *)
Definition displacements U : seq (token R d) :=
  disp U 0 :: flatten [seq [:: disp U i; disp U 0 + disp U i] | i <- others d'].

(** The sum profiles, each as (first profile, other profile, their sum). *)
Definition first_sums B U : seq ((token R d * token R d) * (token R d * token R d)
                                 * (token R d * token R d)) :=
  [seq ((final B 0, disp U 0), (final B 0, disp U i),
        (final B 0, disp U 0 + disp U i)) | i <- others d'].
Definition later_sums B U : seq ((token R d * token R d) * (token R d * token R d)
                                 * (token R d * token R d)) :=
  flatten [seq [seq ((final B 0, disp U i), (final B j, disp U i),
                     (final B 0 + final B j, disp U i))
               | i <- enum 'I_d] | j <- others d'].
Definition sums B U := first_sums B U ++ later_sums B U.

(** C1: bases. *)
Definition C1 B U : bool := (\det B != 0) && (\det U != 0).

(** C2: distinct poles, in every profile. *)
Definition C2 M B U : bool :=
  all (fun p => uniq [seq pole e p.1 p.2 h | h <- M]) (profiles B U).

(** C3: visible heads. *)
Definition C3 M U : bool :=
  all (fun u => all (fun h => dot emb h.2 u != 0) M) (displacements U).

(** C4: unique match, in every sum profile. *)
Definition C4 M B U : bool :=
  all (fun t => unique_match M (fun h => pole e t.1.1.1 t.1.1.2 h)
                               (fun h => pole e t.1.2.1 t.1.2.2 h)
                               (fun h => pole e t.2.1 t.2.2 h)) (sums B U).

Definition conditions M B U : bool :=
  [&& C1 B U, C2 M B U, C3 M U & C4 M B U].

(** ** Which profiles and sums there are *)

Lemma mem_others (i : 'I_d) : (i \in others d') = (i != 0).
Proof. by rewrite mem_filter mem_enum andbT. Qed.

Lemma grid_in_profiles B U j i : (final B j, disp U i) \in profiles B U.
Proof.
rewrite mem_cat; have [->|j0] := eqVneq j 0.
  apply/orP; left; rewrite inE; have [->|i0] := eqVneq i 0; first by rewrite eqxx.
  by apply/orP; right; apply/flatten_mapP; exists i; rewrite ?mem_others // inE eqxx.
apply/orP; right; apply/flatten_mapP; exists j; rewrite ?mem_others //.
by apply/flatten_mapP; exists i; rewrite ?mem_enum // inE eqxx.
Qed.

Lemma grid_in_first_row B U i : (final B 0, disp U i) \in first_row B U.
Proof.
rewrite inE; have [->|i0] := eqVneq i 0; first by rewrite eqxx.
by apply/orP; right; apply/flatten_mapP; exists i; rewrite ?mem_others // inE eqxx.
Qed.

Lemma first_row_token B U p : p \in first_row B U -> p.1 = final B 0.
Proof.
rewrite inE => /predU1P[-> //|/flatten_mapP[i _]].
by rewrite !inE => /orP[] /eqP ->.
Qed.

Lemma first_row_displacement B U p : p \in first_row B U -> p.2 \in displacements U.
Proof.
rewrite inE => /predU1P[->|/flatten_mapP[i i0]]; first exact: mem_head.
rewrite !inE => /orP[] /eqP -> /=; apply/orP; right; apply/flatten_mapP;
  by exists i; rewrite // !inE eqxx ?orbT.
Qed.

Lemma later_row_displacement B U p : p \in later_rows B U -> p.2 \in displacements U.
Proof.
case/flatten_mapP=> j _ /flatten_mapP[i _] pE.
have -> : p.2 = disp U i by move: pE; rewrite !inE => /orP[] /eqP ->.
exact: (first_row_displacement (grid_in_first_row B U i)).
Qed.

Lemma profiles_displacement B U p : p \in profiles B U -> p.2 \in displacements U.
Proof.
by rewrite mem_cat => /orP[]; [apply: first_row_displacement|apply: later_row_displacement].
Qed.

Lemma displacement_in_profiles B U u : u \in displacements U ->
  exists2 p, p \in profiles B U & p.2 = u.
Proof.
rewrite inE => /predU1P[->|/flatten_mapP[i i0]].
  by exists (final B 0, disp U 0); rewrite // grid_in_profiles.
rewrite !inE => /orP[] /eqP ->.
  by exists (final B 0, disp U i); rewrite // grid_in_profiles.
exists (final B 0, disp U 0 + disp U i) => //.
rewrite mem_cat inE; apply/orP; left; apply/orP; right.
by apply/flatten_mapP; exists i; rewrite // !inE eqxx orbT.
Qed.

(** The three profiles of a sum are asked, and the third is the sum. *)
Lemma first_sums_in B U t : t \in first_sums B U ->
  [/\ t.1.1 \in first_row B U, t.1.2 \in first_row B U & t.2 \in first_row B U].
Proof.
case/mapP=> i i0 -> /=; rewrite !grid_in_first_row; split=> //.
by rewrite inE; apply/orP; right; apply/flatten_mapP; exists i; rewrite // !inE eqxx orbT.
Qed.

Lemma later_sums_in B U t : t \in later_sums B U ->
  [/\ t.1.1 \in profiles B U, t.1.2 \in profiles B U & t.2 \in profiles B U].
Proof.
case/flatten_mapP=> j j0 /mapP[i _ ->] /=; rewrite !grid_in_profiles; split=> //.
rewrite mem_cat; apply/orP; right; apply/flatten_mapP; exists j => //.
by apply/flatten_mapP; exists i; rewrite ?mem_enum // !inE eqxx orbT.
Qed.

Lemma sums_in B U t : t \in sums B U ->
  [/\ t.1.1 \in profiles B U, t.1.2 \in profiles B U & t.2 \in profiles B U].
Proof.
rewrite mem_cat => /orP[/first_sums_in[]|]; last exact: later_sums_in.
by rewrite /profiles !mem_cat => -> -> ->.
Qed.

Hypothesis SE : exp_setting emb e.

(** In a sum profile the poles of a head multiply. *)
Lemma sums_multiply B U t : t \in sums B U -> forall h : head K V d,
  pole e t.2.1 t.2.2 h = pole e t.1.1.1 t.1.1.2 h * pole e t.1.2.1 t.1.2.2 h.
Proof.
rewrite mem_cat => /orP[/mapP[i _ ->] h|/flatten_mapP[j _ /mapP[i _ ->]] h] /=.
  exact: (pole_displacements SE).
exact: (pole_final_tokens SE).
Qed.

End Conditions.
