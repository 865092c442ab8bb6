(** Multi-head attention, its queries, and the learner's query set.

    The setting: tokens have coordinates in R, logits lie in V, outputs in K,
    and e : V -> K is the exponential.  For the paper R = V = K is the field of
    real numbers and e = exp.  For exact rational weights R is the ring of
    integers, V a lattice of exponents, K the field of rationals, and
    e maps an exponent to its monomial (see [Rational]). *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import System Profile.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(** An injective homomorphism from (V, +) to the units of K, such that
    1 + k e(x) never vanishes.  (With x = 0: K has characteristic 0.) *)
Record exp_setting (R : idomainType) (K : fieldType) (V : lmodType R)
    (emb : {rmorphism R -> K}) (e : V -> K) : Prop := ExpSetting {
  emb_inj : injective emb;
  torsion_free : forall (a : R) (x : V), a *: x = 0 -> a = 0 \/ x = 0;
  exp_0 : e 0 = 1;
  exp_D : forall x y, e (x + y) = e x * e y;
  exp_inj : injective e;
  exp_pole : forall k x, 1 + k%:R * e x != 0
}.

(** The paper's setting: tokens, logits and outputs in one field K, such as the
    real numbers with e = exp. *)
Lemma paper_setting (K : fieldType) (e : K^o -> K) :
  e 0 = 1 -> (forall x y, e (x + y) = e x * e y) -> injective e ->
  (forall k x, 1 + k%:R * e x != 0) ->
  exp_setting [rmorphism of (@idfun K)] e.
Proof. by move=> *; split=> //; apply: field_torsion_free. Qed.

Section Attention.

Variables (R : idomainType) (K : fieldType) (V : lmodType R).
Variables (emb : {rmorphism R -> K}) (e : V -> K).
Variable d : nat.

(** A token is a column of R^d, a query a non-empty list of tokens; a head is
    a pair (W, v), a model a list of heads. *)
Definition token := 'cV[R]_d.
Definition head := ('M[V]_d * 'cV[K]_d)%type.
Definition model := seq head.

(** b^T W x *)
Definition logit (W : 'M[V]_d) (b x : token) : V :=
  \sum_(p < d) \sum_(q < d) (b p 0 * x q 0) *: W p q.

(** The softmax weight of x, with the last token of X as the one that asks. *)
Definition weight (W : 'M[V]_d) (X : seq token) (x : token) : K :=
  let b := last 0 X in
  e (logit W b x) / \sum_(y <- X) e (logit W b y).

(** The scalar product in K^d. *)
Definition dotK (v w : 'cV[K]_d) : K := \sum_(p < d) v p 0 * w p 0.

(** f(X) = sum_h v_h . sum_i p_(h,i) x_i *)
Definition output (M : model) (X : seq token) : K :=
  \sum_(h <- M)
    dotK h.2 (\sum_(x <- X) weight h.1 X x *: map_mx emb x).

(** v . u for a token u. *)
Definition dot (v : 'cV[K]_d) (u : token) : K := dotK v (map_mx emb u).

(** Canonical heads: distinct W, and v <> 0. *)
Definition canonical (M : model) : bool := reduced M.
Definition canon (M : model) : model := merge M.

(** "k copies of b + u, then b". *)
Definition copies (k : nat) (b u : token) : seq token := rcons (nseq k (b + u)) b.

(** The terms (pole, residue) that the heads show in profile (b, u). *)
Definition pole (b u : token) (h : head) : K := e (logit h.1 b u).
Definition terms (M : model) (b u : token) : seq (K * K) :=
  [seq (pole b u h, dot h.2 u) | h <- M].

Definition vsum (M : model) : 'cV[K]_d := \sum_(h <- M) h.2.

(** ** Linearity *)

Lemma dotKDl v v' w : dotK (v + v') w = dotK v w + dotK v' w.
Proof. by rewrite -big_split; apply: eq_bigr => p _; rewrite mxE mulrDl. Qed.

Lemma dotKDr v w w' : dotK v (w + w') = dotK v w + dotK v w'.
Proof. by rewrite -big_split; apply: eq_bigr => p _; rewrite mxE mulrDr. Qed.

Lemma dotKZr v a w : dotK v (a *: w) = a * dotK v w.
Proof. by rewrite mulr_sumr; apply: eq_bigr => p _; rewrite mxE mulrCA. Qed.

Lemma dotK0l w : dotK 0 w = 0.
Proof. by rewrite /dotK big1 // => p _; rewrite mxE mul0r. Qed.

Lemma dotK0r v : dotK v 0 = 0.
Proof. by rewrite /dotK big1 // => p _; rewrite mxE mulr0. Qed.

Lemma dotDr v u u' : dot v (u + u') = dot v u + dot v u'.
Proof. by rewrite /dot map_mxD dotKDr. Qed.

Lemma dot_vsum M u : dot (vsum M) u = \sum_(p <- terms M u u) p.2.
Proof.
rewrite /dot /vsum big_map /=.
by apply: (big_morph (fun v => dotK v _)) => [v v'|]; rewrite ?dotKDl ?dotK0l.
Qed.

Lemma sum_residues M b u : \sum_(p <- terms M b u) p.2 = dot (vsum M) u.
Proof. by rewrite dot_vsum !big_map. Qed.

Lemma logitDr W b x y : logit W b (x + y) = logit W b x + logit W b y.
Proof.
rewrite /logit -big_split; apply: eq_bigr => p _; rewrite -big_split.
by apply: eq_bigr => q _; rewrite mxE mulrDr scalerDl.
Qed.

Lemma logitDl W b c x : logit W (b + c) x = logit W b x + logit W c x.
Proof.
rewrite /logit -big_split; apply: eq_bigr => p _; rewrite -big_split.
by apply: eq_bigr => q _; rewrite mxE mulrDl scalerDl.
Qed.

Lemma logit_sub W W' b x : logit (W - W') b x = logit W b x - logit W' b x.
Proof.
rewrite /logit -sumrB; apply: eq_bigr => p _; rewrite -sumrB.
by apply: eq_bigr => q _; rewrite !mxE scalerBr.
Qed.

(** ** Merging does not change the function *)

Theorem output_canon M X : output (canon M) X = output M X.
Proof.
pose F W v := dotK v (\sum_(x <- X) weight W X x *: map_mx emb x).
apply: (big_merge (F := F)) => [W|W v v']; first exact: dotK0l.
exact: dotKDl.
Qed.

(** ** The profile identity *)

Hypothesis SE : exp_setting emb e.

Lemma exp_neq0 x : e x != 0.
Proof.
apply/eqP => ex0; have /eqP := oner_neq0 K.
by rewrite -(exp_0 SE) -(subrr x) (exp_D SE) ex0 mul0r.
Qed.

Lemma setting_char0 : [char K] =i pred0.
Proof.
apply/charf0P => n; case: n => [|n]; first by rewrite !eqxx.
by have := exp_pole SE n 0; rewrite (exp_0 SE) mulr1 -mulrS => /negPf ->.
Qed.

Lemma true_poles_terms M b u : true_poles (terms M b u).
Proof. by apply/allP => _ /mapP[h _ ->]; apply: exp_neq0. Qed.

Lemma off_poles_terms M b u k : off_poles (terms M b u) k%:R.
Proof. by apply/allP => _ /mapP[h _ ->]; apply: (exp_pole SE). Qed.

(** The query "k copies of b + u, then b" has the value (P). *)
Theorem profile_identity M k b u :
  output M (copies k b u) = profile (dot (vsum M) b) (terms M b u) k%:R.
Proof.
rewrite /profile dot_vsum !big_map -big_split /=; apply: eq_bigr => h _.
set r := pole b u h; set E := e (logit h.1 b b).
have lastb : last 0 (copies k b u) = b by rewrite /copies last_rcons.
have E0 : E != 0 := exp_neq0 _.
have kr0 : 1 + k%:R * r != 0 := exp_pole SE _ _.
have bigc (Y : zmodType) (G : token -> Y) :
    \sum_(x <- copies k b u) G x = G (b + u) *+ k + G b.
  by rewrite /copies -cats1 big_cat big_seq1 big_nseq iter_addr_0.
have ebu : e (logit h.1 b (b + u)) = E * r by rewrite logitDr (exp_D SE).
have sumE : \sum_(y <- copies k b u) e (logit h.1 b y) = E * (1 + k%:R * r).
  by rewrite bigc ebu -/E mulrDr mulr1 addrC mulrCA mulr_natl.
have W1 : weight h.1 (copies k b u) b = (1 + k%:R * r)^-1.
  by rewrite /weight lastb sumE -/E invfM mulrA divff // mul1r.
have W2 : weight h.1 (copies k b u) (b + u) = r / (1 + k%:R * r).
  by rewrite /weight lastb sumE ebu invfM mulrACA divff // mul1r.
rewrite bigc W1 W2 -scaler_nat scalerA map_mxD scalerDr addrAC -scalerDl.
rewrite dotKDr !dotKZr -/(dot h.2 b) -/(dot h.2 u) [k%:R * (r / _)]mulrA.
rewrite -[X in (_ + X) * _]mul1r -mulrDl [_ + 1]addrC divff // mul1r.
by rewrite [_ * dot _ u]mulrC.
Qed.

Lemma output_single M b : output M [:: b] = dot (vsum M) b.
Proof. by rewrite (profile_identity M 0 b 0) profile_0. Qed.

(** Poles multiply when displacements add, and when final tokens add. *)
Lemma pole_displacements b u u' h :
  pole b (u + u') h = pole b u h * pole b u' h.
Proof. by rewrite /pole logitDr (exp_D SE). Qed.

Lemma pole_final_tokens b b' u h : pole (b + b') u h = pole b u h * pole b' u h.
Proof. by rewrite /pole logitDl (exp_D SE). Qed.

End Attention.

(** ** The learner's queries *)

Section Learner.

Variables (R : idomainType) (d' : nat).
Local Notation d := d'.+1.
Implicit Types (B U : 'M[R]_d) (n : nat).

(** The rows of B are the final tokens, the columns of U the displacements. *)
Definition final B (j : 'I_d) : token R d := (row j B)^T.
Definition disp U (i : 'I_d) : token R d := col i U.

(** Indices 2..d of the paper (here 1..d-1). *)
Definition others : seq 'I_d := [seq i <- enum 'I_d | i != ord0].

(** First row: (b_1, u_1); then (b_1, u_i) and (b_1, u_1 + u_i), i >= 2. *)
Definition first_row B U : seq (token R d * token R d) :=
  (final B 0, disp U 0) ::
  flatten [seq [:: (final B 0, disp U i); (final B 0, disp U 0 + disp U i)]
          | i <- others].

(** Later rows: (b_j, u_i) and (b_1 + b_j, u_i), j >= 2, all i. *)
Definition later_rows B U : seq (token R d * token R d) :=
  flatten [seq flatten [seq [:: (final B j, disp U i);
                                (final B 0 + final B j, disp U i)]
                       | i <- enum 'I_d] | j <- others].

Definition profiles B U := first_row B U ++ later_rows B U.

(** k = 1..2n copies; k = 0 is never asked here. *)
Definition profile_queries n (p : token R d * token R d) : seq (seq (token R d)) :=
  [seq copies k p.1 p.2 | k <- iota 1 (2 * n)].

(** n is what the learner was told: H, or a bound for it. *)
Definition learner_queries n B U : seq (seq (token R d)) :=
  [:: final B 0] :: flatten [seq profile_queries n p | p <- profiles B U].

End Learner.
