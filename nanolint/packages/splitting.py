"""scikit-learn's ``train_test_split`` (sklearn/model_selection/_split.py). Read, never run.

Which rows fall to which part is no matter, only how many do.
"""

import math


def train_test_split(*arrays, test_size=None, train_size=None, **options):
    found = []
    for each in arrays:
        count = len(each)
        tests, trains = counted(test_size, count, math.ceil), counted(train_size, count, math.floor)
        if tests is None:
            tests = math.ceil(0.25 * count) if trains is None else count - trains
        if trains is None:
            trains = count - tests
        found += [each[:trains], each[trains : trains + tests]]
    return found


def counted(size, count, rounded):
    return rounded(size * count) if isinstance(size, float) else size
