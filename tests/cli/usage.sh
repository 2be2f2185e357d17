# Wrong usage: exit 2 and one sentence that says what to do.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 2
says "Usage: rarebit COMMAND"
silent

refuses "there is no command 'ft'" ft
refuses "did you mean 'fit rfn'" fit rnf X.npy
refuses "did you mean 'encode'" encod m X
refuses "there is no command 'nonsuch'; 'rarebit help' lists them" nonsuch
refuses "'fit' needs a method as its second word: rarebit fit rfn table.csv -k 4 -o o.h5;" fit table.csv -k 4 -o o.h5
refuses "rarebit plot history m.h5 -o x.png;" plot m.h5 -o x.png
expect 2 fit
says "rfn "
silent
expect 2 plot
says "history "
# One grammar: the method is the second word.
refuses "rarebit select pca X.npy --units 2:5;" select X.npy --units 2:5 --method pca
refuses "rarebit stack rfn X.npy --units 4,2 -o s.h5;" stack X.npy --units 4,2 -o s.h5
refuses "'fit rfn' has no option --method" fit rfn X.npy --method rfn -o m.h5

refuses "DATA is missing; usage: rarebit fit rfn DATA -o MODEL [OPTIONS]" fit rfn
refuses "-o MODEL is missing" fit rfn X.npy
refuses "takes no argument 'Y.npy'" info X.npy Y.npy
refuses "did you mean --iterations?" fit rfn X.npy --iter 5 -o m.h5
refuses "did you mean --normalize?" fit rfn X.npy --normalise rms -o m.h5
refuses "has no option --xyzzy; 'rarebit help fit rfn' lists them" fit rfn X.npy --xyzzy -o m.h5
refuses "has no option -z" fit rfn X.npy -z 3 -o m.h5
refuses "has no option --no-eta" fit rfn X.npy --no-eta -o m.h5
refuses "--eta needs a value: a number above 0 and at most 1" fit rfn X.npy -o m.h5 --eta
refuses "--eta needs a value" fit rfn X.npy --eta --seed 1 -o m.h5
refuses "--output needs a value: MODEL" fit rfn X.npy -o
refuses "--eta is '2', but must be a number above 0 and at most 1" fit rfn X.npy --eta 2 -o m.h5
refuses "--eta is '', but must be" fit rfn X.npy --eta= -o m.h5
refuses "--units is 'many', but must be a whole number" fit rfn X.npy -k many -o m.h5
refuses "--units is '0'" fit rfn X.npy -k0 -o m.h5
refuses "--units is '1.5'" fit rfn X.npy -k 1.5 -o m.h5
refuses "--normalize is 'l2', but must be rms, sd or none" fit rfn X.npy --normalize l2 -o m.h5
refuses "--seed is '-1'" fit rfn X.npy --seed -1 -o m.h5
refuses "--threads is '2000'" fit rfn X.npy --threads 2000 -o m.h5
refuses "--transpose is 'perhaps', but must be true or false" fit rfn X.npy --transpose=perhaps -o m.h5
refuses "--format is 'doc', but must be auto, tsv, json or gmt" modules m.h5 X.npy --format doc
refuses "cannot both go to standard output" fit rfn X.npy -o - --log-json -
refuses "-o needs the name of a file" fit rfn X.npy -o ''
refuses "'plot history' has no option --shape" plot history m.h5 --shape 2x2 -o x.png
refuses "'plot history' has no option --labels" plot history m.h5 --labels l.tsv -o x.png
refuses "'plot codes' has no option --shape" plot codes m.h5 X.npy --shape 2x2 -o x.png
refuses "'plot filters' has no option --labels" plot filters m.h5 --labels l.tsv -o x.png
for plot in history codes filters modules; do
    refuses "MODEL is missing" plot $plot
done
refuses "DATA is missing" plot codes m.h5 -o x.png
refuses "-o CODES is missing" encode m.h5 X.npy
refuses "-o FILE is missing" simulate biclusters
refuses "FILE is missing" info
refuses "there is no command 'nothing'" help nothing
RAREBIT_KERNEL=abacus
export RAREBIT_KERNEL
refuses "abacus" version
unset RAREBIT_KERNEL
only
finish
