import { beforeAll, describe, expect, test } from "bun:test";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import { asInstant } from "../../../src/lib/instant.ts";

/** A Wednesday. */
const REFERENCE = asInstant("2026-03-18T15:30:00.000000Z");

/** Questions as they are asked, with what they mean: the date, and the time of day if it is not midnight. */
const ASKED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  de: {
    "Was war gestern?": "2026-03-17T15:30",
    "Was war vorgestern im Büro?": "2026-03-16T15:30",
    "Was kommt morgen?": "2026-03-19T15:30",
    "Wen traf ich am letzten Montag?": "2026-03-16",
    "Wen traf ich letzten Mittwoch?": "2026-03-11",
    "Was war am vergangenen Freitag?": "2026-03-13",
    "Was ist nächsten Freitag?": "2026-03-20",
    "Was war letzte Woche?": "2026-03-11T15:30",
    "Was war im letzten Monat?": "2026-02-18T15:30",
    "Wo war ich letztes Jahr?": "2025-03-18T15:30",
    "Was war vor drei Tagen?": "2026-03-15T15:30",
    "Was war vor zwei Wochen?": "2026-03-04T15:30",
    "Was war am 5. März 2025?": "2025-03-05",
    "Was war im Mai 2025?": "2025-05-18",
    "Was war im Januar?": "2026-01-18",
    "Was war am 03.04.2025?": "2025-04-03",
  },
  fr: {
    "Qu'ai-je fait hier ?": "2026-03-17T15:30",
    "Qu'ai-je fait avant-hier ?": "2026-03-16T15:30",
    "Que fait-on demain ?": "2026-03-19T15:30",
    "Qui ai-je vu lundi dernier ?": "2026-03-16",
    "Qui ai-je vu mercredi dernier ?": "2026-03-11",
    "Que fait-on vendredi prochain ?": "2026-03-20",
    "Qu'ai-je mangé la semaine dernière ?": "2026-03-11T15:30",
    "Et le mois dernier ?": "2026-02-18T15:30",
    "Et l'année dernière ?": "2025-03-18T15:30",
    "Où étais-je il y a trois jours ?": "2026-03-15T15:30",
    "Où étais-je il y a un an ?": "2025-03-18T15:30",
    "Où étais-je le 5 mars 2025 ?": "2025-03-05",
    "Où étais-je en mai 2025 ?": "2025-05-18",
    "Où étais-je en janvier ?": "2026-01-18",
  },
  es: {
    "¿Qué hice ayer?": "2026-03-17T15:30",
    "¿Qué hice anteayer?": "2026-03-16T15:30",
    "¿Qué hago hoy?": "2026-03-18T15:30",
    "¿A quién vi el martes pasado?": "2026-03-17",
    "¿A quién vi el miércoles pasado?": "2026-03-11",
    "¿Qué hay el viernes que viene?": "2026-03-20",
    "¿Qué hice la semana pasada?": "2026-03-11T15:30",
    "¿Qué hice el mes pasado?": "2026-02-18T15:30",
    "¿Qué hice el año pasado?": "2025-03-18T15:30",
    "¿Qué hice hace tres días?": "2026-03-15T15:30",
    "¿Qué hice hace dos semanas?": "2026-03-04T15:30",
    "¿Qué hice el 5 de marzo de 2025?": "2025-03-05",
    "¿Qué hice en mayo de 2025?": "2025-05-18",
    "¿Qué hay la próxima semana?": "2026-03-25T15:30",
  },
  it: {
    "Che cosa ho fatto ieri?": "2026-03-17T15:30",
    "Che cosa ho fatto l'altro ieri?": "2026-03-16T15:30",
    "Che cosa faccio domani?": "2026-03-19T15:30",
    "Chi ho visto lunedì scorso?": "2026-03-16",
    "Chi vedo venerdì prossimo?": "2026-03-20",
    "Che cosa ho fatto la settimana scorsa?": "2026-03-11T15:30",
    "Che cosa ho fatto il mese scorso?": "2026-02-18T15:30",
    "Dove ero l'anno scorso?": "2025-03-18T15:30",
    "Dove ero tre giorni fa?": "2026-03-15T15:30",
    "Dove ero due settimane fa?": "2026-03-04T15:30",
    "Dove ero il 5 marzo 2025?": "2025-03-05",
    "Dove ero a maggio 2025?": "2025-05-18",
  },
  pt: {
    "O que fiz ontem?": "2026-03-17T15:30",
    "O que fiz anteontem?": "2026-03-16T15:30",
    "O que faço amanhã?": "2026-03-19T15:30",
    "Quem vi na segunda-feira passada?": "2026-03-16",
    "O que há na próxima sexta-feira?": "2026-03-20",
    "O que fiz na semana passada?": "2026-03-11T15:30",
    "O que fiz no mês passado?": "2026-02-18T15:30",
    "O que fiz no ano passado?": "2025-03-18T15:30",
    "O que fiz há três dias?": "2026-03-15T15:30",
    "O que fiz duas semanas atrás?": "2026-03-04T15:30",
    "O que fiz em 5 de março de 2025?": "2025-03-05",
    "O que fiz em maio de 2025?": "2025-05-18",
  },
  nl: {
    "Wat deed ik gisteren?": "2026-03-17T15:30",
    "Wat deed ik eergisteren?": "2026-03-16T15:30",
    "Wat doe ik morgen?": "2026-03-19T15:30",
    "Wie zag ik afgelopen maandag?": "2026-03-16",
    "Wie zag ik vorige woensdag?": "2026-03-11",
    "Wie zie ik volgende vrijdag?": "2026-03-20",
    "Wat deed ik vorige week?": "2026-03-11T15:30",
    "Wat deed ik vorige maand?": "2026-02-18T15:30",
    "Wat deed ik vorig jaar?": "2025-03-18T15:30",
    "Wat deed ik drie dagen geleden?": "2026-03-15T15:30",
    "Wat deed ik op 5 maart 2025?": "2025-03-05",
    "Wat deed ik in mei 2025?": "2025-05-18",
  },
  ru: {
    "Что было вчера?": "2026-03-17T15:30",
    "Что было позавчера?": "2026-03-16T15:30",
    "Что будет завтра?": "2026-03-19T15:30",
    "Кого я видел в прошлый понедельник?": "2026-03-16",
    "Что будет в следующую пятницу?": "2026-03-20",
    "Что было на прошлой неделе?": "2026-03-11T15:30",
    "Что было в прошлом месяце?": "2026-02-18T15:30",
    "Где я был в прошлом году?": "2025-03-18T15:30",
    "Где я был три дня назад?": "2026-03-15T15:30",
    "Где я был две недели назад?": "2026-03-04T15:30",
    "Где я был 5 марта 2025?": "2025-03-05",
    "Где я был в мае 2025?": "2025-05-18",
  },
  ja: {
    昨日は何をしましたか: "2026-03-17T15:30",
    一昨日は何をしましたか: "2026-03-16T15:30",
    明日は何をしますか: "2026-03-19T15:30",
    先週は何をしましたか: "2026-03-11T15:30",
    先月は何をしましたか: "2026-02-18T15:30",
    去年は何をしましたか: "2025-03-18T15:30",
    来週は何をしますか: "2026-03-25T15:30",
    "3日前に何をしましたか": "2026-03-15T15:30",
    "2週間前に何をしましたか": "2026-03-04T15:30",
    三日前に何をしましたか: "2026-03-15T15:30",
    "2025年3月5日に何をしましたか": "2025-03-05",
    火曜日に何をしましたか: "2026-03-17",
  },
};

const reader = createChronoDateReader({ languages: ["en"], warn: () => {} });
beforeAll(async () => {
  await reader.ready();
  for (const language of Object.keys(ASKED)) await reader.ready([language]);
});

describe.each(Object.entries(ASKED))("dates in %s", (language, asked) => {
  test.each(Object.entries(asked))("%s", (question, expected) => {
    const found = reader
      .read(question, REFERENCE, [language])
      .map(({ resolved }) => resolved.slice(0, 16).replace(/T00:00$/, ""));
    expect(found).toEqual([expected]);
  });
});

test("a reader loads a language that a question asks for, besides its own", async () => {
  const fresh = createChronoDateReader({ languages: ["en"], warn: () => {} });
  expect(fresh.read("gestern", REFERENCE, ["de"])).toEqual([]);
  await fresh.ready(["de"]);
  expect(fresh.read("gestern", REFERENCE, ["de"])).toHaveLength(1);
});
