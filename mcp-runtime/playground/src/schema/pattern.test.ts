import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPattern } from './pattern.ts';

test('a pattern whose time doubles with each character is not compared', () => {
    for (const pattern of ['^(a+)+$', '(a*)*', '^(\\w+\\s?)*$', '^([a-z]+)*x', '(a|a)*$', '(a|ab)+', '^(aa+)+$', '(?:.a+)*', '((a+)b?)+', '(x?y?)*', '^(a{1,9})+$', '([a-z]|\\w)+', '^(-[a-z-]+)*$', '(a+){2,}', '(?<name>a+)+']) {
        assert.equal(isPattern(pattern), false, pattern);
    }
});

test('usual patterns are compared', () => {
    for (const pattern of ['^[A-Z]-[0-9]{3}$', '^[a-z0-9]+(-[a-z0-9]+)*$', '^([a-z]+\\.)+[a-z]{2,}$', '^(foo|bar)+$', '^([0-9]{4})+$', '^\\d{3}(?:,\\d{3})*$', '^.*$', '^(?:[a-z]+/)*[a-z]*$', '[)(]+', '^(a)(b)?$', '\\(a+\\)+', '^(https?)://.+$', '^(?=.*\\d).{8,}$', '^\\p{L}+(?: \\p{L}+)*$', '(a+){1}']) {
        assert.equal(isPattern(pattern), true, pattern);
    }
});

test('a pattern that a browser cannot read is not compared', () => {
    for (const pattern of ['(', '[', '(?i)a', '\\y']) assert.equal(isPattern(pattern), false, pattern);
});
