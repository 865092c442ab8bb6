(** Matching heads across profiles by sums.

    Poles multiply when displacements add or final tokens add
    ([Model.pole_displacements], [Model.pole_final_tokens]); residues add or
    stay ([Model.dotDr], and by definition).  Here: which pairs of poles have
    their product in the sum profile, and what their number says. *)

From mathcomp Require Import all_ssreflect all_algebra.
From ExactMHA Require Import Profile.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Lemma uniq_map_inj (T S : eqType) (f : T -> S) (M : seq T) :
  uniq (map f M) -> {in M &, injective f}.
Proof.
move=> u h g hM gM E; suff ih : index h M = index g M.
  by rewrite -[h](nth_index h hM) ih nth_index.
apply/eqP; rewrite -(nth_uniq (f h) _ _ u) ?size_map ?index_mem //.
by rewrite !(nth_map h) ?index_mem // !nth_index // E.
Qed.

(** T is the type of heads, M the list of heads; r, r' and r'' are their poles
    in the two profiles that are added and in the sum profile. *)
Section Matching.

Variables (K : fieldType) (T : eqType) (M : seq T) (r r' r'' : T -> K).

(** C4: a product is a pole of the sum profile only for one and the same head. *)
Definition unique_match : bool :=
  all (fun h => all (fun g => all (fun l =>
    (r h * r' g == r'' l) ==> (h == g) && (g == l)) M) M) M.

Lemma unique_matchP :
  reflect ({in M & &, forall h g l, r h * r' g = r'' l -> h = g /\ g = l})
          unique_match.
Proof.
apply: (iffP allP) => [um h g l hM gM lM E|um h hM].
  have /allP/(_ g gM)/allP/(_ l lM) := um h hM.
  by rewrite E eqxx => /andP[/eqP -> /eqP ->].
apply/allP => g gM; apply/allP => l lM; apply/implyP => /eqP E.
by have [-> ->] := um h g l hM gM lM E; rewrite !eqxx.
Qed.

(** What is observed: three lists of poles, each in an order of its own.  A
    hit is a pair with its product in the third list. *)
Definition hits (P Q S : seq K) : seq (K * K) :=
  [seq pq <- [seq (p, q) | p <- P, q <- Q] | pq.1 * pq.2 \in S].

Lemma mem_hits (P Q S : seq K) p q :
  ((p, q) \in hits P Q S) = [&& p \in P, q \in Q & p * q \in S].
Proof.
rewrite mem_filter /=; apply/andP/and3P => [[pqS /allpairsP[]]|].
  by case=> p' q' [/= pP qQ E]; move: pqS; case: E => -> ->.
by case=> pP qQ pqS; split=> //; apply/allpairsP; exists (p, q).
Qed.

Lemma hits_uniq (P Q S : seq K) : uniq P -> uniq Q -> uniq (hits P Q S).
Proof.
move=> uP uQ; rewrite filter_uniq // allpairs_uniq //.
by case=> [a b] [a' b'] _ _ /= [-> ->].
Qed.

Lemma perm_hits (P P' Q Q' S S' : seq K) : uniq P -> uniq Q ->
  perm_eq P P' -> perm_eq Q Q' -> perm_eq S S' ->
  perm_eq (hits P Q S) (hits P' Q' S').
Proof.
move=> uP uQ PP QQ SS; apply: uniq_perm.
- exact: hits_uniq.
- by rewrite hits_uniq // -?(perm_uniq PP) -?(perm_uniq QQ).
by case=> p q; rewrite !mem_hits (perm_mem PP) (perm_mem QQ) (perm_mem SS).
Qed.

Hypothesis uM : uniq M.
Hypothesis r_inj : {in M &, injective r}.
Hypothesis r'_inj : {in M &, injective r'}.
Hypothesis r''_inj : {in M &, injective r''}.
Hypothesis r_mul : {in M, forall h, r'' h = r h * r' h}.

Let diagonal := [seq (r h, r' h) | h <- M].

Lemma matching_own :
  (size (hits (map r M) (map r' M) (map r'' M)) == size M = unique_match) /\
  (unique_match -> perm_eq (hits (map r M) (map r' M) (map r'' M)) diagonal).
Proof.
set hs := hits _ _ _.
have uhs : uniq hs.
  by rewrite hits_uniq ?map_inj_in_uniq.
have ud : uniq diagonal.
  by rewrite map_inj_in_uniq // => h g hM gM [/r_inj -> //].
have sub : {subset diagonal <= hs}.
  by move=> _ /mapP[h hM ->]; rewrite mem_hits -r_mul // !map_f.
have C4sub : unique_match -> {subset hs <= diagonal}.
  move/unique_matchP=> um [p q]; rewrite mem_hits.
  case/and3P=> /mapP[h hM ->] /mapP[g gM ->] /mapP[l lM E].
  have [-> _] := um h g l hM gM lM E.
  by apply/mapP; exists g.
have perm : unique_match -> perm_eq hs diagonal.
  by move=> um; apply: uniq_perm => // pq; apply/idP/idP; [apply: C4sub|apply: sub].
split=> //; apply/eqP/idP => [sz|/perm/perm_size ->]; last by rewrite size_map.
have [|_ dh] := uniq_min_size ud sub; first by rewrite sz size_map.
apply/unique_matchP => h g l hM gM lM E.
have : (r h, r' g) \in hs by rewrite mem_hits E !map_f.
rewrite -dh => /mapP[k kM [/r_inj hk /r'_inj gk]].
rewrite hk // gk //; split=> //; apply: r''_inj => //.
by rewrite -E hk // gk // r_mul.
Qed.

(** The matching lemma, as observed: C4 holds if and only if the number of
    hits is the number of heads, and then the hits join each head with itself. *)
Theorem matching_lemma (P Q S : seq K) :
  perm_eq P (map r M) -> perm_eq Q (map r' M) -> perm_eq S (map r'' M) ->
  (size (hits P Q S) == size M) = unique_match /\
  (unique_match -> perm_eq (hits P Q S) [seq (r h, r' h) | h <- M]).
Proof.
move=> PP QQ SS; have [E1 E2] := matching_own.
have uP : uniq P by rewrite (perm_uniq PP) map_inj_in_uniq.
have uQ : uniq Q by rewrite (perm_uniq QQ) map_inj_in_uniq.
have hh := perm_hits uP uQ PP QQ SS; split; first by rewrite (perm_size hh).
by move/E2; apply: perm_trans.
Qed.

End Matching.
