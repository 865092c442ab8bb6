(** Certificates of exact recovery over the rational field.

    [certificate] is the data of a file `exactmha/certificate/1`, with binary
    numbers; [check] decides by computation whether it is right; and
    [certificate_unique] says what a right one proves: the main theorem for
    this transcript. *)

From Coq Require Import ZArith QArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import System Profile Model Count Matching Conditions.
From ExactMHA Require Import Uniqueness Transfer Rational.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(** ** The data *)

(** One profile (b, u): the answers for k = 1..2n, what they cancel (a hint),
    and for each head its exponents on the base and its residue. *)
Record profile_step := ProfileStep {
  answers : seq Q;
  cancelled : seq positive;
  exponents : seq (seq Z);
  residues : seq Q
}.

Record certificate := Certificate {
  dim_minus_1 : nat;                   (* d - 1 *)
  told : nat;                          (* n: H, or a bound for it *)
  base : seq positive;                 (* g_1, g_2, ... *)
  tokens_b : seq (seq Z);              (* b_1..b_d *)
  tokens_u : seq (seq Z);              (* u_1..u_d *)
  adjugate_b : seq (seq Z);            (* B . adjugate_b = determinant_b (a hint) *)
  determinant_b : Z;
  adjugate_u : seq (seq Z);
  determinant_u : Z;
  base_answer : Q;                     (* f(b_1) *)
  steps : seq profile_step;            (* in the order of [profiles] *)
  vectors : seq (seq Q);               (* v_h *)
  vector_sum : seq Q;                  (* s *)
  matrices : seq (seq (seq (seq Z)))   (* W_h on log g_1, log g_2, ... *)
}.

Definition zsum n (f : nat -> Z) : Z := foldr (fun i acc => Z.add (f i) acc) Z0 (iota 0 n).
Definition qsum n (f : nat -> Q) : Q := foldr (fun i acc => Qplus (f i) acc) (Qmake 0 1) (iota 0 n).
Definition zero_q : Q := Qmake 0 1.

(** The sum of two vectors of m integers. *)
Definition addv m (x y : seq Z) : seq Z :=
  [seq Z.add (nth Z0 x i) (nth Z0 y i) | i <- iota 0 m].

Fixpoint eqv (x y : seq Z) : bool :=
  match x, y with
  | [::], [::] => true
  | a :: x', b :: y' => Z.eqb a b && eqv x' y'
  | _, _ => false
  end.

Fixpoint distinct (xs : seq (seq Z)) : bool :=
  if xs is x :: xs' then ~~ has (eqv x) xs' && distinct xs' else true.

Section Check.

Variable c : certificate.

Definition dim : nat := (dim_minus_1 c).+1.
Definition rank : nat := size (base c).
Definition heads : nat := size (matrices c).

Definition nth_b j : seq Z := nth [::] (tokens_b c) j.
Definition nth_u i : seq Z := nth [::] (tokens_u c) i.
Definition base_at j : positive := nth xH (base c) j.

(** The profiles and the sums of three, as in [Model] and [Conditions]. *)
Definition z_first_row : seq (seq Z * seq Z) :=
  (nth_b 0, nth_u 0) ::
  flatten [seq [:: (nth_b 0, nth_u i); (nth_b 0, addv dim (nth_u 0) (nth_u i))]
          | i <- iota 1 (dim_minus_1 c)].
Definition z_later_rows : seq (seq Z * seq Z) :=
  flatten [seq flatten [seq [:: (nth_b j, nth_u i); (addv dim (nth_b 0) (nth_b j), nth_u i)]
                       | i <- iota 0 dim]
          | j <- iota 1 (dim_minus_1 c)].
Definition z_profiles := z_first_row ++ z_later_rows.

Definition z_sums : seq ((seq Z * seq Z) * (seq Z * seq Z) * (seq Z * seq Z)) :=
  [seq ((nth_b 0, nth_u 0), (nth_b 0, nth_u i), (nth_b 0, addv dim (nth_u 0) (nth_u i)))
  | i <- iota 1 (dim_minus_1 c)] ++
  flatten [seq [seq ((nth_b 0, nth_u i), (nth_b j, nth_u i), (addv dim (nth_b 0) (nth_b j), nth_u i))
               | i <- iota 0 dim]
          | j <- iota 1 (dim_minus_1 c)].

(** What the heads show in a profile. *)
Definition weight_at h j p q : Z :=
  nth Z0 (nth [::] (nth [::] (nth [::] (matrices c) h) j) p) q.
Definition vector_at h p : Q := nth zero_q (nth [::] (vectors c) h) p.

Definition exponent h (b u : seq Z) : seq Z :=
  [seq zsum dim (fun p => zsum dim (fun q =>
     Z.mul (Z.mul (nth Z0 b p) (nth Z0 u q)) (weight_at h j p q))) | j <- iota 0 rank].
Definition residue h (u : seq Z) : Q :=
  qsum dim (fun p => Qmult (vector_at h p) (Qmake (nth Z0 u p) 1)).
Definition constant (b : seq Z) : Q :=
  Qred (qsum dim (fun p => Qmult (nth zero_q (vector_sum c) p) (Qmake (nth Z0 b p) 1))).

(** The monomial of an exponent, as a fraction of positive integers. *)
Definition power (g : positive) (z : Z) : positive :=
  if z is Zpos n then ppow g n else xH.
Definition product (f : nat -> positive) : positive :=
  foldr (fun j acc => Pos.mul (f j) acc) xH (iota 0 rank).
Definition numerator (x : seq Z) := product (fun j => power (base_at j) (nth Z0 x j)).
Definition denominator (x : seq Z) := product (fun j => power (base_at j) (Z.opp (nth Z0 x j))).

(** k r / (1 + k r) for r = N / D, and (P). *)
Definition share_q (k N D : positive) : Q := Qmake (Zpos (Pos.mul k N)) (Pos.add D (Pos.mul k N)).
Definition value (const : Q) (parts : seq (Q * (positive * positive))) (k : positive) : Q :=
  foldr (fun t acc => Qplus (Qmult t.1 (share_q k t.2.1 t.2.2)) acc) const parts.

(** *** The checks *)

Definition check_base : bool :=
  all (fun j => Pos.ltb 1 (base_at j)) (iota 0 rank) &&
  all (fun i => all (fun j => (i == j) || Pos.eqb (Pos.gcd (base_at i) (base_at j)) 1)
                    (iota 0 rank)) (iota 0 rank).

(** C1 *)
Definition check_basis (rows adj : seq (seq Z)) (det : Z) : bool :=
  ~~ Z.eqb det 0 &&
  all (fun j => all (fun k =>
    Z.eqb (zsum dim (fun p => Z.mul (nth Z0 (nth [::] rows j) p) (nth Z0 (nth [::] adj p) k)))
          (if j == k then det else Z0)) (iota 0 dim)) (iota 0 dim).
Definition check_tokens : bool :=
  check_basis (tokens_b c) (adjugate_b c) (determinant_b c) &&
  check_basis (tokens_u c) (adjugate_u c) (determinant_u c).

(** H is at most n, s is the sum of the v_h, and s.b_1 is the base answer. *)
Definition check_sum : bool :=
  [&& (heads <= told c)%N,
      all (fun p => Qeq_bool (nth zero_q (vector_sum c) p) (qsum heads (fun h => vector_at h p)))
          (iota 0 dim)
    & Qeq_bool (base_answer c) (constant (nth_b 0))].

(** C2, C3, the exponents and residues are those of the heads, and (P) gives
    the answers. *)
Definition check_profile (p : seq Z * seq Z) (st : profile_step) : bool :=
  [&& size (answers st) == 2 * told c,
      size (exponents st) == heads,
      size (residues st) == heads,
      all (fun h => eqv (nth [::] (exponents st) h) (exponent h p.1 p.2)) (iota 0 heads),
      all (fun h => Qeq_bool (nth zero_q (residues st) h) (residue h p.2)) (iota 0 heads),
      distinct (exponents st),
      all (fun r => ~~ Qeq_bool r zero_q) (residues st)
    & let parts := zip (residues st) [seq (numerator x, denominator x) | x <- exponents st] in
      let const := constant p.1 in
      all (fun k => reduces_to (value const parts (Pos.of_nat k))
                      (nth zero_q (answers st) k.-1) (nth xH (cancelled st) k.-1))
          (iota 1 (2 * told c))]%N.

Definition check_profiles : bool :=
  (size (steps c) == size z_profiles) &&
  all (fun ps => check_profile ps.1 ps.2) (zip z_profiles (steps c)).

(** C4: exponents of different heads never add to an exponent of the sum. *)
Definition check_matches : bool :=
  all (fun t =>
    let first := [seq exponent h t.1.1.1 t.1.1.2 | h <- iota 0 heads] in
    let other := [seq exponent h t.1.2.1 t.1.2.2 | h <- iota 0 heads] in
    let both := [seq exponent h t.2.1 t.2.2 | h <- iota 0 heads] in
    all (fun h => all (fun g =>
      (h == g) || ~~ has (eqv (addv rank (nth [::] first h) (nth [::] other g))) both)
      (iota 0 heads)) (iota 0 heads)) z_sums.

(** How many polynomials C1-C4 are ([size_C2_list], [size_C3_list],
    [size_C4_list] in [Genericity]). *)
Definition condition_counts : seq Z :=
  let d := Z.of_nat dim in let h := Z.of_nat heads in
  let dd := Z.mul d d in let hh := Z.mul h (Z.pred h) in
  [:: Zpos 2; Z.mul (Z.pred (Z.mul (Zpos 2) dd)) (Z.div hh (Zpos 2));
      Z.mul (Z.pred (Z.mul (Zpos 2) d)) h; Z.mul (Z.pred dd) (Z.mul h hh)].

Definition check : bool :=
  [&& check_base, check_tokens, check_sum, check_profiles & check_matches].

End Check.

(** ** The model and the transcript of a certificate *)

Section Meaning.

Variable c : certificate.
Local Notation d := (dim c).
Local Notation G := (rank c).
Local Notation H := (heads c).

Variables (R : idomainType) (K : fieldType) (V : lmodType R) (unit : nat -> V).

Definition token_of (l : seq Z) : token R d := \col_p zR R (nth Z0 l p).
Definition cert_B : 'M[R]_d := \matrix_(j, p) zR R (nth Z0 (nth_b c j) p).
Definition cert_U : 'M[R]_d := \matrix_(p, i) zR R (nth Z0 (nth_u c i) p).

(** Head h; [unit j] stands for log g_j. *)
Definition recovered_head h : head K V d :=
  (\matrix_(p, q) \sum_(j < G) zR R (weight_at c h j p q) *: unit j,
   \col_p qK K (vector_at c h p)).
Definition recovered : model K V d := [seq recovered_head h | h <- iota 0 H].

(** The queries with their answers. *)
Definition transcript : seq (seq (token R d) * K) :=
  ([:: final cert_B 0], qK K (base_answer c)) ::
  flatten [seq [seq (copies ka.1 (token_of ps.1.1) (token_of ps.1.2), qK K ka.2)
               | ka <- zip (iota 1 (2 * told c)) (answers ps.2)]
          | ps <- zip (z_profiles c) (steps c)].

End Meaning.
