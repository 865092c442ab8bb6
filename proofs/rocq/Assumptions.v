(** What the theorems rest on: nothing.  Every line printed must be
    "Closed under the global context"; [check] fails on any other. *)

From ExactMHA Require Import Profile Model Count Interpolation Loewner Matching Conditions.
From ExactMHA Require Import Uniqueness SchwartzZippel Genericity Canonical Rational.
From ExactMHA Require Import Transfer Certificate Soundness.

(* 1. Profiles, and the interpolation lemma *)
Print Assumptions paper_setting.
Print Assumptions output_canon.
Print Assumptions profile_identity.
Print Assumptions profile_determined.
Print Assumptions interpolation_lemma.
Print Assumptions samples_2H_insufficient.
(* 2. The Loewner matrix *)
Print Assumptions loewner_factors.
Print Assumptions loewner_rank.
Print Assumptions loewner_nonsingular.
(* 3. Matching *)
Print Assumptions pole_displacements.
Print Assumptions pole_final_tokens.
Print Assumptions matching_lemma.
(* 4. Counting *)
Print Assumptions query_count_stages.
Print Assumptions query_count.
Print Assumptions query_length.
Print Assumptions query_length_attained.
(* 5. Canonical uniqueness *)
Print Assumptions canonical_uniqueness.
(* 6. The main theorem *)
Print Assumptions certified_unique.
Print Assumptions conditions_observable.
Print Assumptions uniqueness_from_transcript.
Print Assumptions main_theorem.
Print Assumptions rational_setting.
(* 7. The conditions are non-zero polynomials, and the bound *)
Print Assumptions schwartz_zippel.
Print Assumptions schwartz_zippel2.
Print Assumptions C1_polynomial.
Print Assumptions C2_polynomial.
Print Assumptions C3_polynomial.
Print Assumptions C4_polynomial.
Print Assumptions conditions_polynomials.
Print Assumptions genericity_bound.
Print Assumptions good_draw.
(* Certificates *)
Print Assumptions qK_add.
Print Assumptions qK_mul.
Print Assumptions qK_eq.
Print Assumptions certificate_correct.
Print Assumptions certificate_unique.
Print Assumptions certificate_claim.
Print Assumptions certificate_rational.
