/** Words for people, and for animals of a home, that tell them apart from the one who speaks of them; folded. */
export const PERSONS: ReadonlySet<string> = new Set(
  `mother father mom mum dad parents son daughter sister brother wife husband partner girlfriend boyfriend fiance fiancee aunt
  uncle cousin niece nephew grandmother grandfather grandma grandpa granny friend friends colleague colleagues coworker boss manager
  neighbour neighbor neighbours neighbors roommate flatmate teacher doctor dentist landlord client clients customer customers
  kids children child baby dog cat
  mutter vater eltern sohn tochter schwester bruder frau mann partnerin freundin freund tante onkel nichte neffe oma opa kollegin
  kollege chefin chef nachbarin nachbar kinder kind hund katze
  madre padre padres hijo hija hermana hermano esposa esposo mujer marido novia novio tia tio prima primo sobrina sobrino abuela
  abuelo amiga amigo vecina vecino jefa jefe perro gato`.split(/\s+/),
);
