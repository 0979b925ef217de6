import { describe, expect, test } from "bun:test";
import { languagesOfQuestion, languagesOfText } from "../../src/domain/language.ts";
import { analyse } from "../../src/domain/lexical-analysis.ts";

const ofText = (text: string) => languagesOfText(text, analyse(text));
const ofQuestion = (text: string) => languagesOfQuestion(text, analyse(text));

describe("the language of a text", () => {
  test.each([
    ["Anna wohnt in München.", ["de"]],
    ["Meine Oma backt jeden Sonntag Kuchen.", ["de"]],
    ["Nous avons visité le musée avec les enfants.", ["fr"]],
    ["Mi hermana trabaja en un hospital de Sevilla.", ["es"]],
    ["Mia sorella lavora in un ospedale di Torino.", ["it"]],
    ["A minha irmã trabalha num hospital do Porto.", ["pt"]],
    ["Mijn zus werkt in een ziekenhuis in Utrecht.", ["nl"]],
    ["Моя сестра работает в больнице.", ["ru"]],
    ["Купить молоко", ["ru"]],
  ])("%p is %p", (text, languages) => {
    expect(ofText(text)).toEqual(languages as never);
  });

  test.each([
    "My sister works in a hospital in Bristol.",
    "Tom called Müller about the façade of the café",
    "He said: c'est la vie, and left for the airport",
    "Die Hard was on again last night",
    "Jo has a son named Perry.",
    "La La Land",
    "Müller",
    "meeting 14:30",
    "0x4f3a9c",
    "",
    "我喜欢喝绿茶",
    "أحب الشاي الأخضر",
    "Моя сестра працює в лікарні",
  ])("%p is not stemmed", (text) => {
    expect(ofText(text)).toEqual([]);
  });

  test("letters tell it whether they are composed or not", () => {
    expect(ofText("Ich esse gern K\u00e4se")).toEqual(ofText("Ich esse gern Ka\u0308se"));
  });
});

describe("the languages of a question", () => {
  test.each([
    ["wo wohnt Anna?", ["de"], ["de"]],
    ["où habite Anna ?", ["fr"], ["fr"]],
    ["¿dónde vive Ana?", ["es"], ["es"]],
    ["где живёт Анна?", ["ru"], ["ru"]],
    ["Where does Anna live?", [], ["en"]],
    ["Is Anna in?", ["nl"], ["en"]],
    ["Anna Wohnung", ["de", "fr", "es", "it", "pt", "nl", "ru"], ["en"]],
  ])("%p may be %p", (question, stemmed, asked) => {
    expect(ofQuestion(question)).toEqual({ stemmed, asked } as never);
  });
});
