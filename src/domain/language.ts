import { analyse, ENGLISH_STOP_WORDS, isPlain } from "./lexical-analysis.ts";

/** The languages besides English that are stemmed. */
export const STEMMED_LANGUAGES = ["de", "fr", "es", "it", "pt", "nl", "ru"] as const;
export type StemmedLanguage = (typeof STEMMED_LANGUAGES)[number];
type Language = StemmedLanguage | "en";
const LANGUAGES: readonly Language[] = ["en", ...STEMMED_LANGUAGES];

/** Letters and signs that few languages have. */
const LETTERS: Readonly<Record<StemmedLanguage, RegExp>> = {
  de: /[äöüß]/i,
  fr: /[àâçèéêëîïôùûœ]/i,
  es: /[ñ¿¡áíóú]/i,
  it: /[àèìòù]/i,
  pt: /[ãõâêçáíóú]/i,
  nl: /[ëï]/i,
  ru: /[а-яё]/i,
};
const NOT_RUSSIAN = /[іїєґўјљњђћџќѓѕ]/i;
/**
 * The weight of such a letter, where a function word unique to one language counts 1. Cyrillic without letters foreign to Russian is
 * stemmed as Russian.
 */
const LETTER_SAYS: Readonly<Record<StemmedLanguage, number>> = {
  ...{ de: 0.5, fr: 0.5, es: 0.5, it: 0.5, pt: 0.5, nl: 0.5 },
  ru: 1,
};
/** Words of a text that are examined, */
const WORDS_READ = 1000;
/** and UTF-16 units searched for such letters. */
const CHARS_READ = 1000;
/** Minimum score of a language for stemming a text. */
const SURE_FROM = 1;
/** Minimum lead of a language over English. */
const ABOVE_ENGLISH = 2;
/** Share of the best score from which another language is possible too: for a text, */
const ALSO_TEXT = 0.8;
/** and for a question, where it costs less. */
const ALSO_QUESTION = 0.5;
/** Scores below this are ignored. */
const LEAST_KNOWN = 0.5;

type WordLists = {
  /** Function words of each language, folded. */
  readonly words: Readonly<Record<Language, ReadonlySet<string>>>;
  /** The languages that contain each word. */
  readonly signs: ReadonlyMap<string, readonly Language[]>;
};

let lists: WordLists | undefined;

/** Built at the first text, since most commands read none. */
function wordLists(): WordLists {
  lists ??= foldLists();
  return lists;
}

function foldLists(): WordLists {
  const folded = (language: StemmedLanguage) => new Set(analyse(FUNCTION_WORDS[language]));
  const words = {
    ...{ en: ENGLISH_STOP_WORDS, de: folded("de"), fr: folded("fr"), es: folded("es") },
    ...{ it: folded("it"), pt: folded("pt"), nl: folded("nl"), ru: folded("ru") },
  };
  const signs = new Map<string, readonly Language[]>();
  for (const language of LANGUAGES) {
    for (const word of new Set([...words[language], ...analyse(SIGN_WORDS[language])])) {
      signs.set(word, [...(signs.get(word) ?? []), language]);
    }
  }
  return { words, signs };
}

/** Whether a folded word carries no topic in this language. */
export function isFunctionWord(language: StemmedLanguage, word: string): boolean {
  return wordLists().words[language].has(word);
}

type Known = Readonly<Record<Language, number>>;

function known(text: string, terms: readonly string[]): Known {
  const found = { en: 0, de: 0, fr: 0, es: 0, it: 0, pt: 0, nl: 0, ru: 0 };
  const seen = new Set<string>();
  const { signs } = wordLists();
  for (let at = 0; at < terms.length && at < WORDS_READ; at += 1) {
    const term = terms[at] ?? "";
    const languages = signs.get(term);
    if (languages === undefined || seen.has(term)) continue;
    seen.add(term);
    for (const language of languages) found[language] += 1 / languages.length;
  }
  if (isPlain(text)) return found;
  const start = text.slice(0, CHARS_READ).normalize("NFKC");
  for (const language of STEMMED_LANGUAGES) {
    if (LETTERS[language].test(start)) found[language] += LETTER_SAYS[language];
  }
  if (NOT_RUSSIAN.test(start)) found.ru = 0;
  return found;
}

function most(found: Known): number {
  return LANGUAGES.reduce((best, language) => Math.max(best, found[language]), 0);
}

function above(found: Known, least: number): readonly StemmedLanguage[] {
  return STEMMED_LANGUAGES.filter((language) => found[language] >= least);
}

/**
 * The languages in which a text is stemmed besides English: usually one, two if both are likely, none if it is English or unknown. Stable
 * for a version of the analyser.
 * @param terms of the text, as `analyse` returns them
 */
export function languagesOfText(
  text: string,
  terms: readonly string[],
): readonly StemmedLanguage[] {
  const found = known(text, terms);
  const best = most(found);
  const isEnglish = found.en * ABOVE_ENGLISH >= best;
  return best < SURE_FROM || isEnglish ? [] : above(found, best * ALSO_TEXT).slice(0, 2);
}

/** Letters in a row of a script that English does not use. */
const OTHER_SCRIPT = /(?:[^\p{Script=Latin}\P{L}]\s*){4}/u;

/** Whether a text is in another language than English, as far as its letters and function words show. */
export function isForeign(text: string): boolean {
  const start = text.slice(0, CHARS_READ);
  return OTHER_SCRIPT.test(start) || languagesOfText(start, analyse(start)).length > 0;
}

type QuestionLanguages = {
  /** In which a question is stemmed besides English: all possible ones. */
  readonly stemmed: readonly StemmedLanguage[];
  /** The languages whose function words it uses. */
  readonly asked: readonly Language[];
};

/** The languages of a question. A short one gives little evidence: it is then stemmed in all languages. */
export function languagesOfQuestion(question: string, terms: readonly string[]): QuestionLanguages {
  const found = known(question, terms);
  const best = most(found);
  if (best < LEAST_KNOWN) return { stemmed: STEMMED_LANGUAGES, asked: ["en"] };
  const least = best * ALSO_QUESTION;
  const stemmed = above(found, least);
  if (found.en === best || best < SURE_FROM) return { stemmed, asked: ["en"] };
  return { stemmed, asked: [...(found.en >= least ? (["en"] as const) : []), ...stemmed] };
}

/** The likeliest of some languages for a text. @param otherwise used if the words do not decide */
export function likeliest<L extends Language>(text: string, among: readonly L[], otherwise: L): L {
  const found = known(text, analyse(text));
  return among.reduce(
    (best, language) => (found[language] > found[best] ? language : best),
    otherwise,
  );
}

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The languages other than English that a question certainly is in, as two-letter codes: one, or a few similar ones. */
export function foreignLanguages(question: string): readonly string[] {
  if (KANA.test(question)) return ["ja"];
  const { asked } = languagesOfQuestion(question, analyse(question));
  return asked.filter((language) => language !== "en");
}

/**
 * Function words by language: articles, pronouns, prepositions, conjunctions, auxiliary verbs, question words. They identify the language
 * of a text and carry no topic. Packs are indexed with them: a change needs a step that reindexes texts.
 */
export const FUNCTION_WORDS = {
  de: `ab aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei beim bin bis bist
    da dabei dadurch dafür dagegen daher damit danach dann daran darauf daraus darf darin darüber darum das dass davon davor dazu
    dein deine deinem deinen deiner dem den denen denn der deren des deshalb dessen dich die dies diese diesem diesen dieser dieses
    dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer eure für gegen gewesen hab habe haben habt hast
    hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ins ist ja jede jedem jeden jeder
    jedes jetzt kann kannst kein keine keinem keinen keiner können konnte könnte man manche mein meine meinem meinen meiner meines
    mich mir mit mochte möchte muss müssen musste nach neben nicht nichts noch nun nur ob oder ohne schon sehr sein seine seinem
    seinen seiner seines seit sich sie sind so soll sollen sollte sondern über um und uns unser unsere unserem unseren unserer unter
    viel viele vom von vor wann war waren warum was weil weiter welche welchem welchen welcher welches wem wen wenn wer werde werden
    wessen wie wieder wieso will wir wird wo wofür woher wohin wollen wollte womit woran worauf worüber wurde wurden würde während
    zu zum zur zwar zwischen`,
  fr: `à afin ai aie ait alors après as au aucun aucune aussi autre autres aux avaient avais avait avant avec avez avoir avons ayant beaucoup
    bien c ça car ce ceci cela celle celles celui ces cet cette ceux chaque chez combien comme comment contre d dans de depuis des
    dès donc dont du elle elles en encore entre est était étaient étais été être eu eux fait font furent fut ici il ils j je jusqu
    l la laquelle le lequel les lesquels leur leurs lors lorsque lui m ma mais me même mes moi moins mon n ne ni nos notre nous on
    ont ou où par parce pas pendant peu peut plus plusieurs pour pourquoi puis qu quand que quel quelle quelles quelque quelques
    quels qui quoi s sa sans se sera sert ses si sinon soit son sont sous suis sur t ta tandis tant te tes toi ton toujours tous
    tout toute toutes très trop tu un une va vers voici voilà vos votre vous y`,
  es: `a acá adónde al algo algún alguna algunas alguno algunos allí ante antes aquel aquella aquí así aún aunque bajo cada casi como cómo con
    contra cual cuál cuáles cualquier cuando cuándo cuánta cuántas cuánto cuántos de del desde después donde dónde dos durante e el
    él ella ellas ellos en entonces entre era eran eres es esa esas ese eso esos esta está estaba estaban estado están estar estas
    este esto estos estoy fue fueron fui ha había habían han has hasta hay he hemos la las le les lo los más me mi mí mis mucha
    muchas mucho muchos muy nada ni no nos nosotros nuestra nuestras nuestro nuestros nunca o os otra otras otro otros para pero
    poco por porque puede pueden pues que qué quién quiénes quien se sea ser será si sí sido sin sino sobre sois somos son soy
    su sus también tampoco tan tanto te tenía ti tiene tienen tengo todo todos tu tú tus un una unas uno unos usted va vosotros y
    ya yo`,
  it: `a abbiamo ad agli ai al alcuni all alla alle allo allora altra altre altri altro anche ancora avere aveva avevano avete avevo c che chi ci
    ciò coi col come con contro cosa così cui d da dagli dai dal dall dalla dalle dallo degli dei del dell della delle dello dentro
    di dopo dov dove due e è ed era erano eri ero essere fa fra già gli ha hai hanno ho i il in io l la le lei lo loro lui ma me
    mentre mi mia mie miei mio molta molte molti molto ne negli nei nel nell nella nelle nello niente no noi non nostra nostre
    nostri nostro o od ogni per perché però più poco poi prima qual quale quali qualche quando quanta quante quanti quanto quasi
    quegli quei quel quell quella quelle quello questa queste questi questo qui se sei sempre senza si sia siamo siete solo sono
    sopra sotto sta stata state stati stato su sua sue sugli sui sul sull sulla sulle suo suoi ti tra tu tua tue tuo tuoi tutte
    tutti tutto un una uno v vi voi vostra vostro`,
  pt: `a à agora ainda além algo alguém algum alguma alguns ao aos apenas aquela aquele aquilo aqui as às até através cada com como contra cuja cujo
    da das de dela dele deles depois desde dessa desse desta deste do dos durante e é ela elas ele eles em enquanto então entre era
    eram essa essas esse esses esta está estão estas estava estavam este estes estou eu fez foi for foram fosse há isso isto já la
    lhe lhes lo mais mas me mesmo meu meus minha minhas muita muitas muito muitos na não nas nem nenhum nessa nesse nesta neste no
    nos nós nossa nossas nosso nossos num numa nunca o onde os ou outra outras outro outros para pela pelas pelo pelos per perante
    pode podem pois por porque porquê pouco qual quais qualquer quando quanta quantas quanto quantos que quê quem se seja sem sempre
    sendo ser será seu seus si sido sob sobre sou sua suas também tão te tem têm tenho teu ti tinha tinham toda todas todo todos tu
    tua tudo um uma umas uns vai você vocês vos`,
  nl: `aan af al alle alleen alles als altijd andere ben bij daar daarom dan dat de deze die dit doch doen door dus een eens elk elke en er
    geen geweest haar had hadden heb hebben hebt heeft hem hen het hier hij hoe hoeveel hun ik in is ja je jij jou jouw jullie kan
    kon kunnen kunt maar me meer men met mij mijn moet moeten naar niet niets nog nu of om omdat onder ons onze ook op over reeds
    sinds te tegen tijdens toch toen tot tussen u uit uw van vanaf veel voor waar waarom wanneer waren waarmee wat we wel welk
    welke werd werden wie wij wil wilde word worden wordt ze zei zelf zich zij zijn zo zoals zonder zou zouden zullen`,
  ru: `а без более бы был была были было быть в вам вас весь во вот все всё всего всех вы где да даже для до его ее её если есть еще ещё
    же за здесь и из или им ими их к каждый как какая какие какого какое какой какую какому каком каким когда кого ком кому кто куда
    ли либо меня мне мной мой моего моей моем моему моих мои моя мое моё моим мою мы на над надо нам нами нас наш наша наше нашего
    нашей наши наших не него нее неё нет ни них но ну о об один однако он она они оно от откуда очень по под пока после потом потому
    почему при про раз с сам себе себя сейчас сколько со свой своя свое своё свою своего своей своих своем своим своими так также
    такая такие такого такое такой там тебе тебя тем то тогда того тоже той только том тому тот ту ты у уж уже хотя чего чей чем чему
    через что чтоб чтобы чья чьи эта эти этим этих это этого этой этом этому этот эту я`,
} as const;

/** Further words that identify a language. They may carry the topic. */
export const SIGN_WORDS = {
  en: `again all also always am another back bought brother called daughter because been before being best better big both came come coming couldn day days didn doesn doing done
    down each every everything few father first found friend get getting go goes going gone good got great has hasn haven hello help here hey isn hi home just keep
    know last later let like likes little lives long look looking lot love made make many may maybe might more morning most mother moved much must named need never
    new next night now off often old one only other out over people please put really right said same saw say see she since sister something
    soon still sure take tell thank thanks thing things think thought three through time today together told tomorrow too took two
    under until up use used using very want wants was way week well went while without won work worked working works yeah year years
    yes yesterday yet`,
  de: `abend arbeitet arbeite bekommt bekommen braucht bringt danke drei erste ersten essen fährt feiert findet fliegt freitag früh
    ganz gab geht gehen gemacht gern gerne gestern gibt ging glaube groß große großen gut gute guten heißt heute hoch isst
    jahr jahre jahren junge kauft kaufte kennt kleine kleinen kommt kostet kosten kommen kam kinder lebt lernt letzte letzten liebsten liebt liegt
    liest macht machen mag mittwoch montag morgen mutter nächste nächsten nie oft schreibt sagt sagte samstag schläft sieht spielt
    spricht steht studiert tag tage trinkt treffen trifft vater vergessen versteht weiß wenig wohne wohnt woche zeit zwei`,
  fr: `achète adore aime aimons ans année appelle arrive aujourd habite boit cherche commence connaît demain deux dernier dernière devait
    dit doit donne dort fille finit fils hier huit jamais joue jour jours jeudi lundi mange mardi mari matin mère mercredi merci mois monde
    neuf nouveau nouvelle nuit parle part passe père petit petite prend prochain prochaine quatre reçu samedi semaine soir sœur femme
    trois travaille vendredi veut vient vit voir voudrait`,
  es: `abuela abuelo amiga amigo año años ayer bebe bien buena bueno cada compra compró come cinco dice dijo domingo encuentra estudia fin
    gracias grande gusta gustan habla hace hacer hermana hermano hija hijo hizo hoy jueves juega llama llamó lunes madre mañana martes
    mejor mes meses miércoles noche nueva nuevo nunca padre pequeña pequeño perro prefiere primera primero quiere quiero sabe sábado
    semana siempre tarde trabaja trabajo tres vez viene viernes vive vivo va`,
  it: `abita abito amica amico anni anno beve bene bere buona buono cane cena chiama cinque compra comprato domani domenica dorme fatto
    figlia figlio fratello giorni giorno giovedì grande grazie ieri lavora lavoro legge lunedì mangia martedì mattina mercoledì mese
    mesi moglie marito notte nuova nuovo oggi padre parla piace piccola piccolo preferisce prende prossima prossimo quattro sabato
    scorsa scorso sera settimana sorella studia tre vede venerdì viene vive vuole`,
  pt: `amanhã amiga amigo ano anos avó bebe bem boa bom cachorro chama cinco come compra comprou dia dias diz domingo dorme duas dois
    ensina estuda faz fazer feira filha filho fica gosta gosto hoje irmã irmão janta joga mãe manhã mês meses mora moro mulher nova
    novo ontem pai passada passado prefere primeira primeiro próxima próximo quer quero sábado segunda semana terça quarta quinta
    sexta trabalha trabalho três vem vez vive noite`,
  nl: `avond beste dag dagen donderdag drie drinkt eerste eet gaat gaan gekocht gemaakt gisteren goed goede graag grote heet huis iedere
    jaar jaren kent kinderen kleine koopt komt leert leest leuk ligt loopt maakt maand maandag mag moeder morgen nieuwe nooit ochtend
    oude ouders slaapt speelt spreekt staat twee vader vandaag vertelde vorig vorige vriend vriendin vrijdag week werkt weet wonen woon
    woont zaterdag zegt ziet zit zondag zus`,
  ru: "",
} as const;
